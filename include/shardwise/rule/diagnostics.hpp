// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/respected.hpp"

namespace shardwise {

/// The character of `Equation` at `Position` cannot stand there.
template <fixed_string Equation, int Position>
struct einsum_is_malformed {
  static_assert(respected<einsum_is_malformed>,
                "an einsum reads like \"bi,io->bo\", with one or two operands of at most 8 "
                "letters");
};

/// `Operand` is a `Have`, no tensor.
template <class Operation, class Operand, class Have>
struct operand_is_not_a_tensor {
  static_assert(respected<operand_is_not_a_tensor>,
                "an operand is a tensor, on paper abstract<X>(), or in elementwise functions "
                "a number");
};

/// `Operand` has no values, and another operand has.
template <class Operation, class Operand>
struct operand_is_abstract {
  static_assert(respected<operand_is_abstract>,
                "an abstract tensor meets abstract tensors and numbers alone");
};

/// `Operation` was given `Have` operands instead of `Want`.
template <class Operation, int Have, int Want>
struct operand_count_differs {
  static_assert(respected<operand_count_differs>,
                "an operation takes as many operands as its rule has");
};

/// `Operand` has `Have` dimensions and the rule names `Want`.
template <class Operation, class Operand, int Have, int Want>
struct operand_rank_differs {
  static_assert(respected<operand_rank_differs>,
                "an operand has as many dimensions as the rule names for it");
};

/// `Dimension` of an operand has the extent `Have` and meets one of `Want`.
template <class Operation, class Dimension, class Have, class Want>
struct operand_sizes_differ {
  static_assert(respected<operand_sizes_differ>,
                "dimensions that meet in an operation have the same size");
};

/// `Operand` lives on another mesh than the first; `Meshes` are theirs in order.
template <class Operation, class Operand, class... Meshes>
struct operand_meshes_differ {
  static_assert(respected<operand_meshes_differ>,
                "the operands of an operation live on the same mesh");
};

/// `Operand` holds elements `Have`, and the first tensor `Want`.
template <class Operation, class Operand, class Have, class Want>
struct operand_elements_differ {
  static_assert(respected<operand_elements_differ>,
                "the operands of an operation have the same element type");
};

/// `Operand` holds truth values where `Operation` takes numbers.
template <class Operation, class Operand>
struct operand_is_no_number {
  static_assert(respected<operand_is_no_number>,
                "arithmetic is of numbers: where(c, 1.0F, 0.0F) or cast<float>(c) makes them of "
                "truth values");
};

/// `Operand` holds elements `Have` where `Operation` takes truth values.
template <class Operation, class Operand, class Have>
struct operand_is_no_truth_value {
  static_assert(respected<operand_is_no_truth_value>,
                "a condition is a tensor of bool, as comparisons give: where(x > 0, x, y)");
};

/// `Operand` is a number with a fraction beside tensors of `Element`, which has none.
template <class Operation, class Operand, class Element>
struct number_would_be_cut {
  static_assert(respected<number_would_be_cut>,
                "a number beside tensors is one of their element type");
};

/// `Operation` gives fractions, which `Element` has not.
template <class Operation, class Element>
struct elements_have_no_fractions {
  static_assert(respected<elements_have_no_fractions>,
                "random numbers are float or double; roots, exponentials and means have fractions");
};

/// `Dimension` of an operand is split over `Axis`, the dimension that it meets otherwise.
template <class Operation, class Dimension, fixed_string Axis, fixed_string Mend>
struct operand_layouts_conflict {
  static_assert(respected<operand_layouts_conflict>, "dimensions that meet are split alike");
};

/// `Axis` splits `Dimension` of an operand, and another factor of the operation.
template <class Operation, class Dimension, fixed_string Axis, fixed_string Mend>
struct axis_would_split_twice {
  static_assert(respected<axis_would_split_twice>,
                "a mesh axis splits one dimension of an operation");
};

/// `Axis` splits `Dimension` of an operand, of which each device needs the whole.
template <class Operation, class Dimension, fixed_string Axis, fixed_string Mend>
struct dimension_is_split {
  static_assert(respected<dimension_is_split>,
                "what orders, joins or scans a dimension needs the whole of it on each device");
};

/// `Axis` splits `Dimension` of an operand where no dimension of the result can be split alike.
template <class Operation, class Dimension, fixed_string Axis, fixed_string Mend>
struct split_would_move {
  static_assert(respected<split_would_move>,
                "a split stays with major parts, so that no element moves");
};

/// `Operation` gives extents of `Have` elements to an operand of `Want`.
template <class Operation, index_t Have, index_t Want>
struct element_count_differs {
  static_assert(respected<element_count_differs>,
                "a reshape keeps the number of elements, and leaves at most one extent open");
};

/// `Operand` is pending over `Axis`, and `Operation` is not linear in it.
template <class Operation, class Operand, fixed_string Axis, fixed_string Mend>
struct partial_value_is_read {
  static_assert(respected<partial_value_is_read>,
                "a pending reduction is finished before its value is read");
};

/// `Operand` is not pending over the same axes as the first: they differ in `Axis`.
template <class Operation, class Operand, fixed_string Axis, fixed_string Mend>
struct pending_axes_differ {
  static_assert(respected<pending_axes_differ>, "values that are added are pending alike");
};

/// `Operand` is pending over `Axis`, over which the other is pending or split.
template <class Operation, class Operand, fixed_string Axis, fixed_string Mend>
struct pending_axis_meets_itself {
  static_assert(respected<pending_axis_meets_itself>,
                "a product is pending over an axis once, and not split over it");
};

/// `Operand` is manual over `Axis`, which splits or is pending in the operation.
template <class Operation, class Operand, fixed_string Axis>
struct operand_is_manual {
  static_assert(respected<operand_is_manual>,
                "an axis is manual in an operation, or splits or is pending in it");
};

/// The operand is manual over `Axis`; asked for are its values, or `Spec`.
template <fixed_string Axis, class Spec>
struct manual_axis_is_left {
  static_assert(respected<manual_axis_is_left>,
                "a manual axis is left by disable_manual_sharding or reduced by all_reduce");
};

/// `Dimension` is not one of the `Rank` dimensions.
template <class Dimension, int Rank>
struct dimension_is_out_of_range {
  static_assert(respected<dimension_is_out_of_range>,
                "a dimension is named by a number from 0 to the rank less one");
};

/// `Tensor` would be assigned `Value`.
template <fixed_string Tensor, fixed_string Value>
struct assignment_changes_tensor {
  static_assert(respected<assignment_changes_tensor>,
                "a tensor that is assigned keeps its extents and its layout");
};

/// A name of an expression that makes `Value` would get another value.
template <fixed_string Value>
struct expression_is_assigned {
  static_assert(respected<expression_is_assigned>,
                "auto names one expression; what is assigned is a sharded_tensor or an any_tensor");
};

/// The target is pending over `Axis` as `Pending` says, the operand is not.
template <fixed_string Axis, class Pending>
struct reshard_would_create_partial {
  static_assert(respected<reshard_would_create_partial>,
                "a reshard finishes pending reductions and never starts one");
};

/// `Function` cannot be called with the `Count` tensors that `trace` has for it.
template <class Function, int Count>
struct function_takes_other_operands {
  static_assert(respected<function_takes_other_operands>,
                "a traced function is const and takes the tensors of trace, one or more, each by "
                "const auto&");
};

/// A traced function returns a `Result`.
template <class Result>
struct result_is_not_a_tensor {
  static_assert(respected<result_is_not_a_tensor>,
                "a traced function returns a tensor, or several in a tuple");
};

/// Asked for is a `Have`, which is no tensor type.
template <class Have>
struct made_type_is_not_a_tensor {
  static_assert(respected<made_type_is_not_a_tensor>,
                "what is made is a sharded_tensor<T, extents<...>, layout<...>>, named between < "
                "and >");
};

/// `Have` stands in the place of a pool.
template <class Have>
struct mesh_is_not_a_pool {
  static_assert(respected<mesh_is_not_a_pool>,
                "a tensor is made in a device pool: device_pool pool{pod{}}");
};

/// `Argument` of what makes a tensor is a `Have` where a `Want` is needed.
template <class Argument, class Have, class Want>
struct argument_is_unexpected {
  static_assert(respected<argument_is_unexpected>,
                "after the pool comes what fills the tensor, then one size for each dyn extent");
};

/// `Have` is no host data, or can be read only once.
template <class Have>
struct host_data_is_unreadable {
  static_assert(respected<host_data_is_unreadable>,
                "host data is an Eigen matrix, a forward range of numbers or of such ranges, or "
                "f(index)");
};

/// The host's data has `Have` dimensions and the tensor `Want`.
template <int Have, int Want>
struct host_rank_differs {
  static_assert(respected<host_rank_differs>,
                "the host's data has as many dimensions as the tensor");
};

/// The host's data are numbers of type `Have` for a tensor of `Want`.
template <class Have, class Want>
struct host_elements_differ {
  static_assert(respected<host_elements_differ>,
                "the host's data has elements of the type that the tensor has");
};

/// `Function` was given a `Have`, which no device pool holds.
template <fixed_string Function, class Have>
struct operand_is_not_in_pool {
  static_assert(respected<operand_is_not_in_pool>,
                "what is computed or read is a tensor in a device pool");
};

/// `Operation` reads elements of a tensor; `Mend` does the same on the host.
template <class Operation, fixed_string Mend>
struct elements_are_on_devices {
  static_assert(respected<elements_are_on_devices>,
                "elements are read on the host, after to_host or local");
};

/// `Operation` does not name each of the `Rank` dimensions once.
template <class Operation, int Rank>
struct dimensions_are_no_permutation {
  static_assert(respected<dimensions_are_no_permutation>,
                "a transpose names every dimension of its operand once");
};

}  // namespace shardwise
