// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

namespace shardwise {

/// Every rule that values can break. The type layer says `broken_rule<broken::NAME, ...>` of those
/// that it can meet, and `misuse::NAME` of what only the compiler can see; the run-time layer puts
/// the name in front of the sentence.
enum class broken : unsigned char {
  nothing,
  // meshes
  axis_is_repeated_in_mesh,
  axis_name_is_malformed,
  axis_size_is_not_positive,
  mesh_has_too_many_axes,
  mesh_has_too_many_devices,
  mesh_size_is_unknown,
  device_count_differs,
  device_is_repeated,
  submesh_axis_is_not_in_mesh,
  // specs
  axis_is_not_in_mesh,
  axis_is_used_twice,
  spec_is_malformed,
  grain_is_malformed,
  // layouts
  layout_is_malformed,
  rank_is_too_high,
  rank_differs_from_spec,
  extent_is_negative,
  tensor_is_too_large,
  extent_is_not_divisible,
  blocks_do_not_divide_extent,
  partial_axis_also_splits,
  pending_axes_are_out_of_order,
  manual_axis_is_used,
  // names of dimensions
  name_is_repeated,
  name_has_no_rule,
  no_alternative_is_free,
  // rules of operations
  einsum_is_malformed,
  operand_count_differs,
  operand_rank_differs,
  operand_sizes_differ,
  operand_meshes_differ,
  operand_elements_differ,
  operand_is_no_number,
  operand_is_no_truth_value,
  operand_layouts_conflict,
  axis_would_split_twice,
  dimension_is_split,
  split_would_move,
  element_count_differs,
  partial_value_is_read,
  pending_axes_differ,
  pending_axis_meets_itself,
  operand_is_manual,
  dimension_is_out_of_range,
  dimensions_are_no_permutation,
  dimension_is_too_short,
  assignment_changes_tensor,
  // programs
  reshard_would_create_partial,
  manual_axis_is_left,
  axis_is_not_manual,
  constraint_needs_communication,
  tensor_is_marked_already,
  program_is_too_long,
  // texts
  text_is_malformed,
  layout_has_no_text,
  // the machine
  host_rank_differs,
  host_size_differs,
  input_has_no_sharding,
  hosts_are_not_alike,
  host_batch_is_dealt_out,
  host_batch_is_not_divisible,
  shard_count_differs,
  shard_extents_differ,
  replicas_differ,
  tensor_is_replicated,
  device_is_out_of_range,
  operand_pools_differ,
  expression_was_moved,
  tensor_was_moved,
  pool_size_differs,
  device_order_differs,
  pool_is_not_in_use,
  operation_is_entered_twice,
  operation_has_no_kernel,
  input_differs,
  result_count_differs,
  result_elements_differ,
};

/// How the two sizes of a diagnosis are told: `6 where 4 is needed`, `4 into 3 equal parts`, `5 of
/// 8 characters`, `6 where less than 6 is needed`, `9 where a multiple of 8 is needed`, and, of one
/// size alone, `device 3`.
enum class sizes_told : unsigned char { needed, parts, characters, below, multiple, device };

/// The rule's name and what it demands, in one sentence, which the compiler prints too; and the
/// words for its facts at run time.
struct rule_text {
  text_view name;
  text_view demand;
  sizes_told sizes = sizes_told::needed;
  /// What the numbered part is, and what is named.
  text_view part = "operand";
  text_view label = "axis";
};

/// What every rule is called and demands, in the order of `broken`.
inline constexpr rule_text rule_texts[] = {
    {"nothing", "no rule is broken"},
    {"axis_is_repeated_in_mesh", "the axes of a mesh have different names"},
    {"axis_name_is_malformed",
     "an axis name is a letter or _ and up to 22 more letters, digits or _"},
    {"axis_size_is_not_positive", "an axis of a mesh has at least one device"},
    {"mesh_has_too_many_axes", "a mesh has at most 7 axes"},
    {"mesh_has_too_many_devices", "a mesh has at most 2^30 devices", sizes_told::below},
    {"mesh_size_is_unknown", "a dyn axis needs its size before anything is computed from it"},
    {"device_count_differs", "an order of devices has as many as its mesh"},
    {"device_is_repeated", "a device is in a mesh once", sizes_told::device},
    {"submesh_axis_is_not_in_mesh", "a sub-mesh names different axes of its mesh"},
    {"axis_is_not_in_mesh", "a partition spec may only name axes of its mesh"},
    {"axis_is_used_twice", "a mesh axis may appear once in a layout"},
    {"spec_is_malformed", "an entry is none, one axis, or by(axes), without blanks or nesting"},
    {"grain_is_malformed",
     "after its axes an entry may say %block, of 1 or more, or *chunks, of 2 or more"},
    {"layout_is_malformed",
     "a layout has a mesh, a spec P<...>, a partial<...> and exact or uneven, in this order"},
    {"rank_is_too_high", "a tensor has at most 8 dimensions"},
    {"rank_differs_from_spec", "a partition spec has one entry for each dimension of its tensor"},
    {"extent_is_negative", "an extent is zero or more"},
    {"tensor_is_too_large", "a tensor has at most 2^56 elements", sizes_told::below},
    {"extent_is_not_divisible",
     "a split extent is divisible by its axes, or the layout says uneven", sizes_told::parts},
    {"blocks_do_not_divide_extent",
     "block times devices divides a block-cyclic extent, or the layout says uneven",
     sizes_told::multiple},
    {"partial_axis_also_splits", "an axis is either pending or splits a dimension, not both"},
    {"pending_axes_are_out_of_order", "pending axes are written in the order of their mesh"},
    {"manual_axis_is_used",
     "manual axes are in mesh order and neither split a dimension nor are pending"},
    {"name_is_repeated", "the dimensions of a tensor have different names", sizes_told::needed,
     "operand", "name"},
    {"name_has_no_rule", "a named dimension has a rule", sizes_told::needed, "operand", "name"},
    {"no_alternative_is_free", "a rule has an alternative whose axes are free, or ends with none",
     sizes_told::needed, "operand", "name"},
    {"einsum_is_malformed",
     "an einsum reads like \"bi,io->bo\", with one or two operands of at most 8 letters",
     sizes_told::characters},
    {"operand_count_differs", "an operation takes as many operands as its rule has"},
    {"operand_rank_differs", "an operand has as many dimensions as the rule names for it"},
    {"operand_sizes_differ", "dimensions that meet in an operation have the same size"},
    {"operand_meshes_differ", "the operands of an operation live on the same mesh"},
    {"operand_elements_differ", "the operands of an operation have the same element type"},
    {"operand_is_no_number",
     "arithmetic is of numbers: where(c, 1.0F, 0.0F) or cast<float>(c) makes them of truth values"},
    {"operand_is_no_truth_value",
     "a condition is a tensor of bool, as comparisons give: where(x > 0, x, y)"},
    {"operand_layouts_conflict", "dimensions that meet are split alike"},
    {"axis_would_split_twice", "a mesh axis splits one dimension of an operation"},
    {"dimension_is_split",
     "what orders, joins or scans a dimension needs the whole of it on each device"},
    {"split_would_move", "a split stays with major parts, so that no element moves"},
    {"element_count_differs",
     "a reshape keeps the number of elements, and leaves at most one extent open"},
    {"partial_value_is_read", "a pending reduction is finished before its value is read"},
    {"pending_axes_differ", "values that are added are pending alike"},
    {"pending_axis_meets_itself", "a product is pending over an axis once, and not split over it"},
    {"operand_is_manual", "an axis is manual in an operation, or splits or is pending in it"},
    {"dimension_is_out_of_range", "a dimension is named by a number from 0 to the rank less one",
     sizes_told::below},
    {"dimensions_are_no_permutation", "a transpose names every dimension of its operand once"},
    {"dimension_is_too_short", "no more elements are taken of a dimension than it has"},
    {"assignment_changes_tensor", "a tensor that is assigned keeps its extents and its layout"},
    {"reshard_would_create_partial", "a reshard finishes pending reductions and never starts one"},
    {"manual_axis_is_left",
     "a manual axis is left by disable_manual_sharding or reduced by all_reduce"},
    {"axis_is_not_manual", "all_reduce folds along manual axes of its operand"},
    {"constraint_needs_communication",
     "a constraint is met without communication; only a reshard moves data"},
    {"tensor_is_marked_already",
     "only a replicated tensor is marked anew; clear_sharding makes it one"},
    {"program_is_too_long", "a traced program fits the capacity given to trace"},
    {"text_is_malformed", "a text reads as its notation has it", sizes_told::characters},
    {"layout_has_no_text", "a notation has words for a layout, and a text has room for them"},
    {"host_rank_differs", "the host's data has as many dimensions as the tensor"},
    {"host_size_differs", "the host's data has as many elements as the tensor", sizes_told::needed,
     "host"},
    {"input_has_no_sharding", "every tensor of a batch has an entry with its key",
     sizes_told::needed, "operand", "key"},
    {"hosts_are_not_alike",
     "hosts have equally many devices, and any two share all of their rows or none",
     sizes_told::parts, "host"},
    {"host_batch_is_dealt_out", "a per-host batch is cut into contiguous parts", sizes_told::needed,
     "host"},
    {"host_batch_is_not_divisible",
     "a per-host batch is divisible by the parts that the devices of a host hold",
     sizes_told::parts, "host"},
    {"shard_count_differs",
     "a tensor is made from the shards of all devices, or of all that differ", sizes_told::needed,
     "shard"},
    {"shard_extents_differ", "a shard has exactly the extents of the part that its device holds",
     sizes_told::needed, "shard"},
    {"replicas_differ", "devices that hold the same part are given the same bits",
     sizes_told::needed, "shard"},
    {"tensor_is_replicated", "a tensor whose shards are loaded one by one is split or pending"},
    {"device_is_out_of_range", "a device is named by a number below the size of the mesh",
     sizes_told::below},
    {"operand_pools_differ", "the operands of an operation live in the same device pool"},
    {"expression_was_moved", "an expression is moved once; what is read again is read by its name"},
    {"tensor_was_moved", "a tensor that was moved from is given a value before it is read again"},
    {"pool_size_differs", "a device pool has the mesh of its tensors"},
    {"device_order_differs", "a device pool has its devices in the order of its tensors' mesh"},
    {"pool_is_not_in_use", "a tensor is made in a device pool that is named or in use"},
    {"operation_is_entered_twice", "operations have different names"},
    {"operation_has_no_kernel", "an operation of a program has a kernel for its elements"},
    {"input_differs",
     "an input of a program has the extents, elements and layout of the one traced",
     sizes_told::needed, "input"},
    {"result_count_differs", "run<T...> names one element type for each result of its program"},
    {"result_elements_differ", "run<T...> names the elements of each result of its program",
     sizes_told::needed, "result"},
};

/// The text of one rule.
[[nodiscard]] constexpr const rule_text& text_of(broken rule) noexcept {
  return rule_texts[static_cast<unsigned>(rule)];
}

}  // namespace shardwise
