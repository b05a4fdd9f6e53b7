// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/make_nodes.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/plan/program.hpp"

#include <cmath>
#include <concepts>
#include <memory>
#include <utility>

namespace shardwise {

/// A valid input of `run`: a tensor, or a number for a tensor of rank 0.
template <class X>
concept ProgramInput = Readable<std::remove_cvref_t<X>> || Scalar<X>;

/// An input of a program at run time: a tensor, computed or pending, or a number.
struct program_input {
  /// Null for a number.
  node_ptr tensor;
  attributes number{};
  /// True for a floating-point number.
  bool has_fraction = false;
};

namespace internal {

/// Returns the input for an argument of `run`.
template <ProgramInput X>
[[nodiscard]] program_input input_from(const X& x) {
  if constexpr (Readable<X>) {
    node_ptr tensor = x.share();
    tensor->arrive();
    return {std::move(tensor)};
  } else if constexpr (std::integral<X>) {
    return {nullptr, constant_operation::how(x)};
  } else {
    const auto value = static_cast<double>(x);
    return {nullptr, constant_operation::how(value), value != std::trunc(value)};
  }
}

/// Releases a tensor that the caller passed as a temporary.
template <class X>
void give_up(X&& x) noexcept {
  if constexpr (requires { std::forward<X>(x).release(); }) (void)std::forward<X>(x).release();
}

/// Returns a number as a tensor of rank 0 on the machine of a tensor or an expression.
template <Element T, class Model>
[[nodiscard]] node_ptr number_node_beside(const Model& model, T value) {
  return number_node(model.share()->home(), constant_operation::how(value), {element_of<T>, {}, {}},
                     element_kernels_of<T>);
}

}  // namespace internal

}  // namespace shardwise
