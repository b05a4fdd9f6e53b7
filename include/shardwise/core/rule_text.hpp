// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/rules.hpp"
#include "shardwise/core/text.hpp"

#include <cstddef>
#include <utility>

namespace shardwise {

/// How the two sizes of a diagnosis are worded: `6 where 4 is needed`, `4 into 3 equal parts`, `5
/// of 8 characters`, `6 where less than 6 is needed`, `9 where a multiple of 8 is needed`, `4
/// devices where 8 are needed`, or, for a single size, `device 3`; of a dimension, `2 where at
/// least -2 and less than 2 is needed`.
enum class sizes_told : unsigned char {
  needed,
  parts,
  characters,
  below,
  multiple,
  devices,
  device,
  rank
};

/// What a rule demands, in one sentence, which the compiler prints too, and the words for its facts
/// at run time.
struct rule_text {
  text_view demand;
  sizes_told sizes = sizes_told::needed;
  /// The words for the numbered part and for what is named.
  text_view part = "operand";
  text_view label = "axis";
  /// Which of the types known to a judge a compile-time error shows, as bits. For a layout: the
  /// mesh, the spec, the partial, and the extents of the tensor. For an operation: the operation
  /// itself, the actual element type, and the required one.
  unsigned shown = ~0U;
};

namespace detail {

inline constexpr auto rule_count = static_cast<std::size_t>(violation::planned_layout_is_fixed) + 1;

/// The text of every rule, in the order of the enumerators.
struct rule_table {
  rule_text rows[rule_count];
  constexpr rule_text& operator[](violation rule) noexcept {
    return rows[static_cast<std::size_t>(rule)];
  }
};

/// The rules of violations.inc, then those that only values at run time can break, then the words
/// for facts.
[[nodiscard]] constexpr rule_table tabulate_rules() noexcept {
  using enum violation;
  rule_table table;
  const auto add = [&](violation rule, text_view demand) { table[rule].demand = demand; };
  add(nothing, "no rule is broken");

  constexpr bool satisfied = true;
#define SHARDWISE_RULE ); add(
#define SHARDWISE_SAYS ,
#include "shardwise/core/violations.inc"
#undef SHARDWISE_RULE
#undef SHARDWISE_SAYS

  add(mesh_size_is_unknown, "a dyn axis needs its size before anything is computed from it");
  add(index_is_out_of_range,
      "an index is below the size of its dimension, or the call says clamp or fill");
  add(part_is_beyond_end,
      "a part is written within its dimension: new positions fit into the capacity of a cache");
  add(program_is_too_long, "a traced program fits the capacity given to trace");
  add(operation_has_no_gradient,
      "every operation between a loss and a tensor has a gradient, or is inside stop_gradient");
  add(value_is_captured,
      "a function with a custom gradient takes what is differentiated as an argument: there is no "
      "gradient of what it captures");
  add(value_is_being_differentiated,
      "elements are not read while a function is recorded: return the value with its results");
  add(value_is_computed_already,
      "values between a loss and a tensor are computed after the gradient is taken, or are "
      "inside stop_gradient");
  add(text_is_malformed, "a text follows the syntax of its notation");
  add(layout_has_no_text,
      "a layout can be expressed in its notation, and the text fits its capacity");
  add(program_has_no_text,
      "a program that leaves the library says only what its notation can: known sizes, contiguous "
      "splits, and operations of the library");
  add(host_size_differs, "the host's data has as many elements as the tensor");
  add(input_has_no_sharding, "every tensor of a batch has an entry with its key");
  add(sharding_has_no_input, "every entry of the sharding of a batch has the key of a tensor");
  add(sample_differs, "a field of a sample has the elements and extents of a row of its tensor");
  add(loader_state_differs,
      "a loader runs one pass at a time, and goes on from a state of the same samples, batches and "
      "order");
  add(hosts_are_not_alike,
      "hosts have equal numbers of devices, and any two share all of their rows or none");
  add(host_array_is_unusable,
      "an array that is shared is in host memory, has the elements of the tensor, and a place for "
      "each that is written");
  add(host_batch_is_not_contiguous, "a per-host batch is cut into contiguous parts");
  add(host_batch_is_not_divisible,
      "a per-host batch is divisible by the parts that the devices of a host hold");
  add(shard_count_differs,
      "a tensor is made from the shards of all devices, or of all that differ");
  add(shard_extents_differ, "a shard has exactly the extents of the part that its device holds");
  add(replicas_differ, "devices that hold the same part are given the same bits");
  add(device_is_elsewhere, "a shard is read by the process that owns its device");
  add(owner_is_out_of_range, "every device has an owner, a number below the number of owners");
  add(owners_differ, "all owners of a mesh run one program, on the same sizes, in the same order");
  add(operand_pools_differ, "the operands of an operation live in the same device pool");
  add(number_is_out_of_range,
      "a number beside tensors, or one that fills them, is within the range of their elements, and "
      "a probability is from 0 to 1");
  add(expression_was_moved, "an expression that was moved from is not read again");
  add(tensor_was_moved, "a tensor that was moved from is assigned before it is read again");
  add(pool_size_differs, "a device pool has the mesh of its tensors");
  add(device_order_differs, "a device pool has its devices in the order of its tensors' mesh");
  add(pool_waits_for_itself,
      "a device function starts no program in a pool that waits for it: compute what it "
      "reads beforehand");
  add(pool_is_not_in_use, "a tensor is made in a device pool that is named or in use");
  add(operation_is_entered_twice, "operations have different names");
  add(operation_has_no_kernel, "an operation of a program has a kernel for its elements");
  add(input_differs,
      "an input of a program has the extents, elements and layout of the traced one");
  add(result_count_differs, "run<T...> names one element type for each result of its program");
  add(result_elements_differ, "run<T...> names the elements of each result of its program");
  add(file_is_not_readable, "a file that is read exists and is readable");
  add(file_is_not_writable, "a file can be written beside its target, which it then replaces");
  add(file_is_malformed, "a file that is read holds what its header says, in the form of its kind");
  add(tensor_is_not_in_file, "a tensor is loaded by the name that it was saved under");
  add(stored_tensor_differs,
      "a tensor is loaded with the elements and extents that it was saved with");
  add(state_names_differ,
      "a state has a tensor for each name of what it is loaded into, and no other");

  const auto sizes = [&](sizes_told told, auto... rule) { ((table[rule].sizes = told), ...); };
  sizes(sizes_told::parts, extent_is_not_divisible, hosts_are_not_alike,
        host_batch_is_not_divisible);
  sizes(sizes_told::characters, einsum_is_malformed, text_is_malformed);
  sizes(sizes_told::below, mesh_has_too_many_devices, tensor_is_too_large, index_is_out_of_range,
        device_is_out_of_range, owner_is_out_of_range);
  sizes(sizes_told::rank, dimension_is_out_of_range);
  sizes(sizes_told::multiple, blocks_do_not_divide_extent, groups_do_not_divide_channels);
  sizes(sizes_told::devices, device_count_differs, pool_size_differs);
  sizes(sizes_told::device, device_is_repeated, device_is_elsewhere);
  const auto parts = [&](text_view word, auto... rule) { ((table[rule].part = word), ...); };
  parts("argument", cotangent_differs);
  parts("host", host_size_differs, hosts_are_not_alike, host_batch_is_not_contiguous,
        host_batch_is_not_divisible);
  parts("shard", shard_count_differs, shard_extents_differ, replicas_differ);
  parts("device", owner_is_out_of_range);
  parts("field", sample_differs);
  parts("input", input_differs);
  parts("result", result_elements_differ);
  const auto labels = [&](text_view word, auto... rule) { ((table[rule].label = word), ...); };
  labels("name", name_is_repeated, name_has_no_rule, no_alternative_is_free);
  labels("key", input_has_no_sharding, sharding_has_no_input);
  labels("member", loader_state_differs);

  // Types without a bit have nothing to do with the rule.
  constexpr unsigned mesh = 1, spec = 2, partial = 4, extents = 8;
  constexpr unsigned operation = 1, met = 2;
  const auto shows = [&](unsigned types, auto... rule) { ((table[rule].shown = types), ...); };
  shows(0, mesh_has_too_many_axes, rank_is_too_high, extent_is_negative, tensor_is_too_large);
  shows(mesh, axis_name_is_malformed, axis_is_not_in_mesh, extent_is_not_divisible,
        blocks_do_not_divide_extent, manual_axis_is_used);
  shows(spec, axis_is_used_twice, spec_is_malformed, grain_is_malformed, manual_axis_is_left);
  shows(partial, reshard_would_create_partial);
  shows(spec | extents, rank_differs_from_spec);
  shows(spec | partial, partial_axis_also_splits);
  shows(mesh | partial, pending_axes_are_out_of_order);
  shows(operation, operand_is_no_number);
  shows(operation | met, operand_is_no_truth_value, operand_is_no_index, operand_is_no_mask);
  return table;
}
inline constexpr rule_table rule_texts = tabulate_rules();

/// The names of the enumerators, as the compiler writes them: `... =
/// {shardwise::violation::nothing, shardwise::violation::axis_is_repeated_in_mesh, ...}`, or in
/// other brackets.
template <auto... Rule>
[[nodiscard]] constexpr text_view spelled() noexcept {
  return {__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1};
}
template <class Rules, std::size_t... I>
[[nodiscard]] constexpr text_view spelled(std::index_sequence<I...>) noexcept {
  return spelled<static_cast<Rules>(I)...>();
}

/// The last part of the `n`th name in such a list.
[[nodiscard]] constexpr text_view name_in(text_view list, std::size_t n) noexcept {
  std::size_t end = 0;
  while (list[end] != '=') ++end;
  for (++n; n != 0; --n) {
    ++end;
    while (list[end] != ',' && list[end] != '}' && list[end] != '>') ++end;
  }
  std::size_t begin = end;
  while (list[begin - 1] == '_' || (list[begin - 1] >= 'a' && list[begin - 1] <= 'z')) --begin;
  return {list.data() + begin, end - begin};
}

}  // namespace detail

/// Returns the text of a rule.
[[nodiscard]] constexpr const rule_text& text_of(violation rule) noexcept {
  return detail::rule_texts.rows[static_cast<std::size_t>(rule)];
}

/// Returns the name of a rule, which is that of its enumerator.
[[nodiscard]] constexpr text_view name_of(violation rule) noexcept {
  return detail::name_in(detail::spelled<violation>(std::make_index_sequence<detail::rule_count>{}),
                         static_cast<std::size_t>(rule));
}

}  // namespace shardwise
