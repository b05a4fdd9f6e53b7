// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/block_functions.hpp"
#include "shardwise/kernel/concatenate_kernel.hpp"
#include "shardwise/kernel/cumsum_kernel.hpp"
#include "shardwise/kernel/einsum_kernel.hpp"
#include "shardwise/kernel/flip_kernel.hpp"
#include "shardwise/kernel/fold_kernel.hpp"
#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/kernel/max_with_index_kernel.hpp"
#include "shardwise/kernel/reshape_kernel.hpp"
#include "shardwise/kernel/transpose_kernel.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

namespace shardwise {

/// Enters an elementwise function of operands `T...` that makes `Result` into the table, so that
/// programs which exist only at run time find it.
///
///     enter_function<silu, float, float>();
template <class Function, Element Result, Element... T>
void enter_function() {
  kernel_table::instance().enter(
      operation_of<pointwise<Function>>,
      types_key(std::array{element_of<T>...}, element_of<Result>),
      {.each = block_function_of<Function, compute_type<Result>, compute_type<T>...>(),
       .elements = &element_kernels_of<Result>});
}

/// Enters an operation that is not elementwise, of operands `T...`.
template <class Operation, Element Result, Element First, Element... Rest>
void enter_operation() {
  kernel_table::instance().enter(
      operation_of<Operation>,
      types_key(std::array{element_of<First>, element_of<Rest>...}, element_of<Result>),
      {.whole = &kernel_of<Operation>::template run<First>,
       .elements = &element_kernels_of<Result>,
       .further = detail::further_of<Operation>()});
}

namespace detail {

/// A concatenation of every number of operands that an operation may have.
template <Element T>
void enter_concatenations() {
  std::array<element, max_operands> operands;
  operands.fill(element_of<T>);
  for (std::size_t count = 1; count <= operands.size(); ++count)
    kernel_table::instance().enter(operation_of<concatenate_operation>,
                                   types_key(std::span(operands).first(count), element_of<T>),
                                   {.whole = &kernel_of<concatenate_operation>::template run<T>,
                                    .elements = &element_kernels_of<T>});
}

/// Several functions of operands of one type.
template <Element T, class... Function>
void enter_unary() {
  (enter_function<Function, T, T>(), ...);
}
template <Element T, class... Function>
void enter_binary() {
  (enter_function<Function, T, T, T>(), ...);
}
template <Element T, class... Function>
void enter_comparisons() {
  (enter_function<Function, bool, T, T>(), ...);
}

}  // namespace detail

/// Enters all operations of the library on elements of `T`; done once, however often it is asked.
template <Element T>
void enter_library() {
  namespace f = functions;
  static const bool entered = [] {
    enter_function<f::where, T, bool, T, T>();
    enter_function<f::stop_gradient, T, T>();
    detail::enter_comparisons<T, f::equal, f::less, f::less_equal, f::greater, f::greater_equal>();
    enter_operation<transpose_operation, T, T>();
    enter_operation<reshape_operation, T, T>();
    enter_operation<flip_operation, T, T>();
    detail::enter_concatenations<T>();
    enter_operation<fold_operation, T, T>();
    if constexpr (std::is_same_v<T, bool>) {
      detail::enter_binary<bool, f::logical_and, f::logical_or>();
      detail::enter_unary<bool, f::logical_not>();
    } else {
      detail::enter_unary<T, f::identity, f::negate, f::abs, f::square, f::relu>();
      detail::enter_binary<T, f::add, f::subtract, f::multiply, f::divide, f::maximum,
                           f::minimum>();
      enter_operation<max_with_index_operation, T, T>();
      enter_operation<max_with_index_operation, T, T, std::int64_t>();
      enter_operation<cumsum_operation, T, T>();
      enter_operation<einsum_operation, T, T>();
      enter_operation<einsum_operation, T, T, T>();
    }
    if constexpr (Fractional<T>)
      detail::enter_unary<T, f::sqrt, f::exp, f::log, f::tanh, f::sigmoid, f::gelu>();
    return true;
  }();
  (void)entered;
}

/// Enters the conversions between elements of all these types.
template <Element... T>
void enter_conversions() {
  const auto from = [&]<Element From>(std::type_identity<From>) {
    (enter_function<functions::cast<T>, T, From>(), ...);
  };
  (from(std::type_identity<T>{}), ...);
}

}  // namespace shardwise
