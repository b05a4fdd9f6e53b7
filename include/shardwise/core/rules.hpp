// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace shardwise {

// The names of a group stand together.
// clang-format off

/// Every rule that values can break. At compile time the error is `broken_rule<violation::NAME,
/// ...>`; at run time the name precedes the sentence. The sentences are in violations.inc, or in
/// rule_text.hpp for rules that only values at run time can break.
enum class violation : unsigned char {
  nothing,
  // meshes
  axis_is_repeated_in_mesh, axis_name_is_malformed, axis_size_is_not_positive,
  mesh_has_too_many_axes, mesh_has_too_many_devices, mesh_size_is_unknown, device_count_differs,
  device_is_repeated, submesh_axis_is_not_in_mesh,
  // specs
  axis_is_not_in_mesh, axis_is_used_twice, spec_is_malformed, grain_is_malformed,
  // layouts
  layout_is_malformed, rank_is_too_high, rank_differs_from_spec, extent_is_negative,
  tensor_is_too_large, extent_is_not_divisible, blocks_do_not_divide_extent,
  partial_axis_also_splits, pending_axes_are_out_of_order, manual_axis_is_used,
  // names of dimensions
  name_is_repeated, name_has_no_rule, no_alternative_is_free,
  // rules of operations
  einsum_is_malformed, operand_count_differs, operand_rank_differs, operand_sizes_differ,
  operand_meshes_differ, operand_elements_differ, operand_is_no_number, operand_is_no_truth_value,
  operand_is_no_index, operand_is_no_mask, operand_layouts_conflict, axis_would_split_twice,
  dimension_is_split, split_would_move, element_count_differs, partial_value_is_read,
  pending_axes_differ, pending_axis_meets_itself, operand_is_manual, dimension_is_out_of_range,
  dimension_is_repeated, dimensions_are_no_permutation, slice_is_out_of_range, window_does_not_fit,
  groups_do_not_divide_channels, index_is_out_of_range, part_is_beyond_end, dimension_is_too_short,
  amount_is_out_of_range, tensor_type_differs, mapped_dimensions_differ, axis_is_mapped,
  // programs
  reshard_would_create_partial, manual_axis_is_left, axis_is_not_manual, positions_are_malformed,
  constraint_needs_communication, tensor_is_marked_already, program_is_too_long,
  operation_has_no_gradient, loss_is_no_number, cotangent_differs, value_is_captured,
  value_is_being_differentiated, value_is_computed_already,
  // texts
  text_is_malformed, layout_has_no_text, program_has_no_text,
  // the machine
  host_rank_differs, host_size_differs, input_has_no_sharding, sharding_has_no_input,
  sample_differs, loader_state_differs, hosts_are_not_alike, host_batch_is_not_contiguous,
  host_batch_is_not_divisible, shard_count_differs,
  shard_extents_differ, replicas_differ, tensor_is_replicated, device_is_out_of_range,
  device_is_elsewhere, owner_is_out_of_range, owners_differ, operand_pools_differ,
  number_is_out_of_range, expression_was_moved, tensor_was_moved, pool_size_differs,
  device_order_differs, pool_waits_for_itself, pool_is_not_in_use, operation_is_entered_twice,
  operation_has_no_kernel, input_differs, result_count_differs, result_elements_differ,
  host_array_is_unusable,
  // files
  file_is_not_readable, file_is_not_writable, file_is_malformed, tensor_is_not_in_file,
  stored_tensor_differs,
  // models
  state_names_differ, pattern_matches_nothing, parameter_has_no_rule, planned_layout_is_fixed,
};

/// The rules that only the compiler can check: the error is `broken_rule<misuse::NAME, ...>`, and
/// the sentences are in misuses.inc.
enum class misuse : unsigned char {
  tensor_is_malformed, element_is_not_supported, operand_is_not_a_tensor, operand_is_abstract,
  number_would_be_cut, elements_have_no_fractions, elements_are_no_integers,
  truth_values_are_compared,
  reduction_options_are_unexpected, options_are_template_arguments, target_is_not_a_layout,
  expression_is_assigned, function_takes_other_operands, function_takes_other_arguments,
  tensor_is_on_paper, result_is_not_a_tensor, size_count_differs, made_type_is_not_a_tensor,
  mesh_is_not_a_pool, argument_is_unexpected, host_data_is_unreadable, host_elements_differ,
  shards_are_not_blocks, operand_is_not_in_pool, elements_are_on_devices, tensor_is_not_a_number,
  gradients_differ, optimizer_state_differs, rate_is_no_number, squares_have_no_range,
  masters_have_no_type, planned_layouts_differ, result_spec_is_missing, layer_returns_no_carry,
  member_default_is_lost, option_is_not_named, option_is_given_twice, tensor_is_hidden,
  module_members_differ, reduced_elements_differ,
};

// clang-format on

}  // namespace shardwise
