// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/fact.hpp"

namespace shardwise {

/// The rules that only the compiler can check; what each demands is said in `broken_rule` alone.
enum class misuse : unsigned char {
  tensor_is_malformed,
  element_is_not_supported,
  operand_is_not_a_tensor,
  operand_is_abstract,
  number_would_be_cut,
  elements_have_no_fractions,
  elements_are_no_integers,
  reduction_options_are_unexpected,
  target_is_not_a_layout,
  expression_is_assigned,
  function_takes_other_operands,
  result_is_not_a_tensor,
  size_count_differs,
  made_type_is_not_a_tensor,
  mesh_is_not_a_pool,
  argument_is_unexpected,
  host_data_is_unreadable,
  host_elements_differ,
  shards_are_not_blocks,
  operand_is_not_in_pool,
  elements_are_on_devices,
  planned_layouts_differ,
  result_spec_is_missing,
};

namespace detail {
/// `Rule` if it is `Asked`.
template <auto Rule, auto Asked>
inline constexpr auto rule_if = violation::nothing;
template <auto Rule>
inline constexpr auto rule_if<Rule, Rule> = Rule;
// Functions instead of values: clang 16 confuses enumerators of equal value when one of them is
// written out in a partial specialization.
[[nodiscard]] constexpr bool is_no_rule(violation rule) noexcept {
  return rule == violation::nothing;
}
[[nodiscard]] constexpr bool is_no_rule(misuse) noexcept { return false; }
}  // namespace detail

/// The condition of the `static_assert` of a broken rule: always false, and dependent on the rule
/// and its facts so that compilers print both on the line of the error.
template <auto Rule, class About, auto... Facts>
inline constexpr bool satisfied = detail::is_no_rule(Rule);

/// The error that `Rule`, a `violation` or a `misuse`, is broken by `About`: an operation, a mesh,
/// a spec, or several `types`. `Facts` are the labelled facts of the verdict and the call that
/// fixes it:
///
///     broken_rule<violation::axis_is_not_in_mesh, pod, dimension{1}, called<6>{"modle"}>
///
/// The error occurs when the class is instantiated, which happens where the program uses what the
/// rule forbids, so compilers point at that line of the program. The sentences repeat those of
/// `rule_texts` because a `static_assert` takes only a literal.
template <auto Rule, class About, auto... Facts>
struct broken_rule {
  using enum violation;
  using enum misuse;
  template <auto Asked>
  static constexpr auto rule = detail::rule_if<Rule, Asked>;

  static_assert(satisfied<rule<axis_is_repeated_in_mesh>, About, Facts...>,
                "the axes of a mesh have different names");
  static_assert(satisfied<rule<axis_name_is_malformed>, About, Facts...>,
                "an axis name is a letter or _ and up to 22 more letters, digits or _");
  static_assert(satisfied<rule<axis_size_is_not_positive>, About, Facts...>,
                "an axis of a mesh has at least one device");
  static_assert(satisfied<rule<mesh_has_too_many_axes>, About, Facts...>,
                "a mesh has at most 7 axes");
  static_assert(satisfied<rule<mesh_has_too_many_devices>, About, Facts...>,
                "a mesh has at most 2^30 devices");
  static_assert(satisfied<rule<device_count_differs>, About, Facts...>,
                "an explicit order has as many devices as its mesh");
  static_assert(satisfied<rule<device_is_repeated>, About, Facts...>,
                "each device appears once in a mesh");
  static_assert(satisfied<rule<submesh_axis_is_not_in_mesh>, About, Facts...>,
                "a sub-mesh names different axes of its mesh");
  static_assert(satisfied<rule<axis_is_not_in_mesh>, About, Facts...>,
                "a partition spec may only name axes of its mesh");
  static_assert(satisfied<rule<axis_is_used_twice>, About, Facts...>,
                "a mesh axis may appear once in a layout");
  static_assert(satisfied<rule<spec_is_malformed>, About, Facts...>,
                "an entry is none, one axis, or by(axes), without blanks or nesting");
  static_assert(satisfied<rule<grain_is_malformed>, About, Facts...>,
                "after its axes an entry may have %block (1 or more), *chunks (2 or more), or *1 "
                "for a single cut over several axes");
  static_assert(satisfied<rule<layout_is_malformed>, About, Facts...>,
                "a layout has a mesh, a spec P<...>, a partial<...> and exact, uneven or "
                "single_cut, in this order");
  static_assert(satisfied<rule<rank_is_too_high>, About, Facts...>,
                "a tensor has at most 8 dimensions");
  static_assert(satisfied<rule<rank_differs_from_spec>, About, Facts...>,
                "a partition spec has one entry for each dimension of its tensor");
  static_assert(satisfied<rule<extent_is_negative>, About, Facts...>, "an extent is zero or more");
  static_assert(satisfied<rule<tensor_is_too_large>, About, Facts...>,
                "a tensor has at most 2^56 elements");
  static_assert(satisfied<rule<extent_is_not_divisible>, About, Facts...>,
                "a split extent is divisible by its axes, or the layout says uneven");
  static_assert(satisfied<rule<blocks_do_not_divide_extent>, About, Facts...>,
                "block times devices divides a block-cyclic extent, or the layout says uneven");
  static_assert(satisfied<rule<partial_axis_also_splits>, About, Facts...>,
                "an axis is either pending or splits a dimension, not both");
  static_assert(satisfied<rule<pending_axes_are_out_of_order>, About, Facts...>,
                "pending axes are written in the order of their mesh");
  static_assert(satisfied<rule<manual_axis_is_used>, About, Facts...>,
                "manual axes are in mesh order and neither split a dimension nor are pending");
  static_assert(satisfied<rule<name_is_repeated>, About, Facts...>,
                "the dimensions of a tensor have different names");
  static_assert(satisfied<rule<name_has_no_rule>, About, Facts...>, "a named dimension has a rule");
  static_assert(satisfied<rule<no_alternative_is_free>, About, Facts...>,
                "a rule has an alternative whose axes are free, or ends with none");
  static_assert(satisfied<rule<einsum_is_malformed>, About, Facts...>,
                "an einsum reads like \"bi,io->bo\", with up to 8 operands of at most 8 "
                "letters");
  static_assert(satisfied<rule<operand_count_differs>, About, Facts...>,
                "an operation takes as many operands as its rule has");
  static_assert(satisfied<rule<operand_rank_differs>, About, Facts...>,
                "an operand has as many dimensions as the rule names for it");
  static_assert(satisfied<rule<operand_sizes_differ>, About, Facts...>,
                "corresponding dimensions of operands have the same size");
  static_assert(satisfied<rule<operand_meshes_differ>, About, Facts...>,
                "the operands of an operation live on the same mesh");
  static_assert(satisfied<rule<operand_elements_differ>, About, Facts...>,
                "the operands of an operation have the same element type");
  static_assert(
      satisfied<rule<operand_is_no_number>, About, Facts...>,
      "arithmetic needs numbers: where(c, 1.0F, 0.0F) or cast<float>(c) converts truth values");
  static_assert(satisfied<rule<operand_is_no_truth_value>, About, Facts...>,
                "a condition is a tensor of bool, as comparisons give: where(x > 0, x, y)");
  static_assert(satisfied<rule<operand_is_no_index>, About, Facts...>,
                "an index is an integer: cast<int>(x) converts other numbers");
  static_assert(satisfied<rule<operand_layouts_conflict>, About, Facts...>,
                "corresponding dimensions are split the same way");
  static_assert(satisfied<rule<axis_would_split_twice>, About, Facts...>,
                "a mesh axis splits one dimension of an operation");
  static_assert(satisfied<rule<dimension_is_split>, About, Facts...>,
                "a sorted, concatenated, scanned or windowed dimension is not split");
  static_assert(satisfied<rule<split_would_move>, About, Facts...>,
                "a split stays on the major part of a dimension, so that no element moves");
  static_assert(satisfied<rule<element_count_differs>, About, Facts...>,
                "a reshape keeps the number of elements, and leaves at most one extent open");
  static_assert(satisfied<rule<partial_value_is_read>, About, Facts...>,
                "a pending reduction is finished before its value is read");
  static_assert(satisfied<rule<pending_axes_differ>, About, Facts...>,
                "values that are added are pending over the same axes");
  static_assert(satisfied<rule<pending_axis_meets_itself>, About, Facts...>,
                "a product is pending over an axis once, and not split over it");
  static_assert(
      satisfied<rule<operand_is_manual>, About, Facts...>,
      "an axis that is manual in an operation neither splits a dimension nor is pending in it");
  static_assert(satisfied<rule<dimension_is_out_of_range>, About, Facts...>,
                "a dimension is a number from 0 to the rank minus one");
  static_assert(satisfied<rule<dimensions_are_no_permutation>, About, Facts...>,
                "a transpose names every dimension of its operand once");
  static_assert(satisfied<rule<slice_is_out_of_range>, About, Facts...>,
                "a slice begins and ends within its dimension, and a dimension padded with its own "
                "elements is not empty");
  static_assert(satisfied<rule<window_does_not_fit>, About, Facts...>,
                "windows fit into the padded tensor, with a number for each spatial dimension, and "
                "groups divide channels");
  static_assert(satisfied<rule<dimension_is_too_short>, About, Facts...>,
                "at most as many elements are taken of a dimension as it has");
  static_assert(
      satisfied<rule<tensor_type_differs>, About, Facts...>,
      "a tensor is initialised and assigned by tensors of its own elements, extents and layout");
  static_assert(satisfied<rule<mapped_dimensions_differ>, About, Facts...>,
                "the dimensions that a vmap maps have the same size and are split alike");
  static_assert(satisfied<rule<axis_is_mapped>, About, Facts...>,
                "an axis that splits the dimension of a vmap splits nothing else inside of the "
                "function");
  static_assert(satisfied<rule<reshard_would_create_partial>, About, Facts...>,
                "a reshard finishes pending reductions and never starts one");
  static_assert(satisfied<rule<manual_axis_is_left>, About, Facts...>,
                "a manual axis is left by disable_manual_sharding or by a collective such as "
                "all_reduce");
  static_assert(satisfied<rule<axis_is_not_manual>, About, Facts...>,
                "collectives and disable_manual_sharding work only along manual axes");
  static_assert(satisfied<rule<positions_are_malformed>, About, Facts...>,
                "positions are below the number of devices along their axes; a permute has at most "
                "20 pairs, with different sources and different targets");
  static_assert(satisfied<rule<constraint_needs_communication>, About, Facts...>,
                "a constraint is met without communication; only a reshard moves data");
  static_assert(satisfied<rule<tensor_is_marked_already>, About, Facts...>,
                "only a replicated tensor is marked; clear_sharding removes an earlier mark");
  static_assert(satisfied<rule<cotangent_differs>, About, Facts...>,
                "a custom gradient returns a tensor for each argument, with its element type, "
                "extents and split");
  static_assert(satisfied<rule<host_rank_differs>, About, Facts...>,
                "the host's data has as many dimensions as the tensor");
  static_assert(satisfied<rule<tensor_is_replicated>, About, Facts...>,
                "a tensor whose shards are loaded one by one is split or pending");
  static_assert(satisfied<rule<device_is_out_of_range>, About, Facts...>,
                "a device is named by a number below the size of the mesh");
  static_assert(satisfied<rule<pattern_matches_nothing>, About, Facts...>,
                "a pattern of a plan matches a name of its model");
  static_assert(satisfied<rule<parameter_has_no_rule>, About, Facts...>,
                "a complete plan has a rule for every parameter");
  static_assert(satisfied<rule<planned_layout_is_fixed>, About, Facts...>,
                "a plan changes tensors that are template arguments of their model, and "
                "any_tensors at run time");
  static_assert(satisfied<rule<tensor_is_malformed>, About, Facts...>,
                "a sharded_tensor has an element type, extents<...> and a layout, in this order");
  static_assert(satisfied<rule<element_is_not_supported>, About, Facts...>,
                "elements are float, double, bfloat16, float16, bool or an integer of 8, 32 or "
                "64 bits, none of them const");
  static_assert(satisfied<rule<operand_is_not_a_tensor>, About, Facts...>,
                "an operand is a tensor, on paper abstract<X>(), or in elementwise functions a "
                "number");
  static_assert(satisfied<rule<operand_is_abstract>, About, Facts...>,
                "abstract tensors combine only with abstract tensors and numbers");
  static_assert(satisfied<rule<number_would_be_cut>, About, Facts...>,
                "a number beside tensors is one of their element type");
  static_assert(satisfied<rule<elements_have_no_fractions>, About, Facts...>,
                "random numbers are float or double; roots, exponentials and means need "
                "floating-point elements");
  static_assert(
      satisfied<rule<elements_are_no_integers>, About, Facts...>,
      "bitwise operations and shifts need integers: cast<std::int32_t>(x) converts numbers");
  static_assert(satisfied<rule<reduction_options_are_unexpected>, About, Facts...>,
                "a reduction is sum<0>(x), sum<0>(x, keep_dims) or, of an any_tensor, sum(x, "
                "over{0}); two tensors meet in maximum(x, y)");
  static_assert(satisfied<rule<target_is_not_a_layout>, About, Facts...>,
                "data moves to a spec P<...> or a layout<...>");
  static_assert(satisfied<rule<expression_is_assigned>, About, Facts...>,
                "auto names one expression; what is assigned is a sharded_tensor or an any_tensor");
  static_assert(satisfied<rule<function_takes_other_operands>, About, Facts...>,
                "a traced function is const and takes the tensors of trace, one or more, each by "
                "const auto&");
  static_assert(satisfied<rule<result_is_not_a_tensor>, About, Facts...>,
                "a traced function returns a tensor, or several in a tuple");
  static_assert(satisfied<rule<size_count_differs>, About, Facts...>,
                "abstract<X> takes one size for each dyn extent and each dyn axis of X");
  static_assert(satisfied<rule<made_type_is_not_a_tensor>, About, Facts...>,
                "the type of the tensor to make is the template argument: sharded_tensor<T, "
                "extents<...>, layout<...>>");
  static_assert(satisfied<rule<mesh_is_not_a_pool>, About, Facts...>,
                "a tensor is made in a device pool: device_pool pool{pod{}}");
  static_assert(satisfied<rule<argument_is_unexpected>, About, Facts...>,
                "after the pool come the values, then one size for each dyn extent");
  static_assert(satisfied<rule<host_data_is_unreadable>, About, Facts...>,
                "host data is an Eigen matrix, a forward range of numbers or of such ranges, or "
                "f(index)");
  static_assert(satisfied<rule<host_elements_differ>, About, Facts...>,
                "host data has the element type of the tensor");
  static_assert(satisfied<rule<shards_are_not_blocks>, About, Facts...>,
                "shards are a forward range of blocks: Eigen matrices, local shards, or runs of "
                "numbers");
  static_assert(satisfied<rule<operand_is_not_in_pool>, About, Facts...>,
                "what is computed or read is a tensor in a device pool");
  static_assert(satisfied<rule<elements_are_on_devices>, About, Facts...>,
                "elements are read on the host, after to_host or local");
  static_assert(satisfied<rule<planned_layouts_differ>, About, Facts...>,
                "parameters that share a template argument, such as the elements of an array, get "
                "one layout and one way of being called");
  static_assert(satisfied<rule<result_spec_is_missing>, About, Facts...>,
                "a module whose result is finished has one template argument for its spec");
};

}  // namespace shardwise
