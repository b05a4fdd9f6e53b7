// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/kernel/block_function.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/kernel/whole_kernel.hpp"

#include <array>
#include <cstddef>

namespace shardwise {

/// Registers an elementwise function of operands of types `T...` with a result of type `Result`, so
/// that programs that exist only at run time find its kernel; `gradient` registers the kernels of
/// its gradient.
///
///     enter_function<silu, float, float>();
template <class Function, Element Result, Element... T>
void enter_function(void (*gradient)() = nullptr) {
  kernel_table::instance().enter(
      operation_of<pointwise<Function>>,
      types_key(std::array{element_of<T>...}, element_of<Result>),
      {.each = block_function_of<Function, compute_type<Result>, compute_type<T>...>(),
       .elements = &element_kernels_of<Result>,
       .enter_gradient = gradient});
}

/// Registers an operation that is not elementwise, on operands of types `T...`.
template <class Operation, Element Result, Element First, Element... Rest>
void enter_operation() {
  kernel_table::instance().enter(
      operation_of<Operation>,
      types_key(std::array{element_of<First>, element_of<Rest>...}, element_of<Result>),
      {.whole = whole_kernel<Operation, First>(),
       .elements = &element_kernels_of<Result>,
       .further = detail::further_of<Operation, First>()});
}

namespace detail {

/// Registers an operation on `Operands` tensors of `T`, of which the one at position `Index` holds
/// indices instead.
template <class Operation, Element T, std::size_t Operands, std::size_t Index>
void enter_with_indices() {
  std::array<element, Operands> operands;
  operands.fill(element_of<T>);
  for (element type : {element::i32, element::i64, element::i8, element::u8}) {
    operands[Index] = type;
    kernel_table::instance().enter(
        operation_of<Operation>, types_key(operands, element_of<T>),
        {.whole = whole_kernel<Operation, T>(), .elements = &element_kernels_of<T>});
  }
}

/// Registers several functions on operands of one type.
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

}  // namespace shardwise
