// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operand.hpp"
#include "shardwise/plan/program.hpp"
#include "shardwise/runtime/each_node.hpp"

#include <cmath>
#include <concepts>
#include <limits>
#include <memory>
#include <utility>

namespace shardwise {

/// What `run` takes as an input of a program: a tensor, or a number for a tensor of rank 0.
template <class X>
concept ProgramInput = Readable<std::remove_cvref_t<X>> || Scalar<X>;

/// An input as a program that runs gets it: a tensor that is there or pending, or a number.
struct program_input {
  /// Null for a number.
  node_ptr tensor;
  attributes number{};
  /// True for a number with a fraction.
  bool has_fraction = false;
};

namespace detail {

/// An input from what `run` was given.
template <ProgramInput X>
[[nodiscard]] program_input input_from(const X& x) {
  if constexpr (Readable<X>) {
    return {x.share()};
  } else if constexpr (std::integral<X>) {
    return {nullptr, constant_operation::how(x)};
  } else {
    const auto value = static_cast<double>(x);
    return {nullptr, constant_operation::how(value), value != std::trunc(value)};
  }
}

/// True if elements of a type can be a number: any fraction, whole numbers of their range.
[[nodiscard]] inline bool holds(element type, const attributes& number) {
  if (has_fractions(type)) return true;
  return with_computed_type(type, [&](auto zero) {
    using limits = std::numeric_limits<decltype(zero)>;
    if (!number.integers.empty())
      return number.integers[0] >= static_cast<index_t>(limits::min()) &&
             number.integers[0] <= static_cast<index_t>(limits::max());
    // The largest of 64 bits is no `double`; the next power of two is one.
    const double end = 2.0 * (static_cast<double>(limits::max() / 2) + 1.0);
    return number.number >= static_cast<double>(limits::min()) && number.number < end;
  });
}

/// Lets a tensor go that the caller gave as a temporary.
template <class X>
void give_up(X&& x) noexcept {
  if constexpr (!std::is_lvalue_reference_v<X> && requires { std::move(x).release(); })
    (void)std::move(x).release();
}

/// A tensor of rank 0 on a machine that holds a number.
[[nodiscard]] inline node_ptr number_node(const std::shared_ptr<machine>& home,
                                          const attributes& number, const tensor_desc& tensor,
                                          const element_kernels& elements) {
  auto made = std::make_shared<node>(home, home->place(tensor), elements);
  made->allocate(home->storage(), home->memory());
  with_number(number, tensor.type, [&](auto value) {
    for (index_t i = 0; i < made->where().count_here(); ++i)
      elements.store(&value, 1, made->writable_data<std::byte>(made->where().shard_here(i)));
  });
  made->set_ready();
  return made;
}

/// The same beside a tensor or an expression, on whose machine it is.
template <Element T, class Model>
[[nodiscard]] node_ptr number_node_beside(const Model& model, T value) {
  return number_node(model.share()->home(), constant_operation::how(value), {element_of<T>, {}, {}},
                     element_kernels_of<T>);
}

}  // namespace detail

}  // namespace shardwise
