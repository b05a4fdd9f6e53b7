// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/lifetime.hpp"

namespace shardwise {

/// A program as a value: its steps in the order in which they run, how long their results live, and
/// what it all costs. Steps that no result needs are there but are neither run nor counted.
template <std::size_t Capacity>
struct program {
  mesh_desc mesh{};
  step_desc steps[Capacity]{};
  lifetime lives[Capacity]{};
  std::int32_t count = 0;
  ledger total{};
};

namespace detail {

/// Marks what the traced function returned: one tensor, or several in anything tuple-like.
template <class Mesh>
constexpr void keep(recorder& program, const recorded<Mesh>& result) {
  program[result.id_in(program)].kept = true;
}
constexpr void keep(recorder&, refused_value) noexcept {}
template <class R>
  requires(!Operand<R>)
constexpr void keep(recorder& program, const R& results) {
  if constexpr (requires { std::tuple_size<R>::value; })
    for_each_index<std::tuple_size<R>::value>(
        [&]<std::size_t I>() { keep(program, get<I>(results)); });
  else
    static_assert(
        requires { std::tuple_size<R>::value; },
        "a traced function returns a tensor, or several in a tuple");
}

/// Makes these tensors the inputs of an empty program.
template <std::size_t Capacity, class First, class... Rest>
constexpr void enter(program<Capacity>& out, recorder& steps, First& first, Rest&... rest) {
  out.mesh = first.mesh();
  first.enter(steps, paper_of<First>::value);
  (rest.enter(steps, paper_of<Rest>::value), ...);
}

/// Finishes a recorded program: what lives how long, and what it all costs.
template <std::size_t Capacity>
constexpr void add_up(program<Capacity>& out, const recorder& steps) noexcept {
  out.count = steps.size();
  plan_lifetimes(out.steps, out.count, out.lives);
  out.total = summarize(out.mesh, out.steps, out.lives, out.count);
}

}  // namespace detail

/// Records what `f` does to abstract operands, without data and without running anything.
///
/// `f` is the function that later runs on tensors. `Capacity` bounds the number of steps.
template <std::size_t Capacity = 64, class F, class... X>
[[nodiscard]] constexpr program<Capacity> trace_program(const F& f, X... operands) {
  program<Capacity> out;
  recorder steps(out.mesh, out.steps, std::int32_t{Capacity});
  detail::enter(out, steps, operands...);
  detail::keep(steps, f(operands...));
  detail::add_up(out, steps);
  return out;
}

/// What `f` would cost on operands like these: collectives, bytes, floating-point operations and
/// peak memory of one device, as a constant to `static_assert` on. Not by way of `trace_program`:
/// compilers would copy the whole program, and errors would pass through one more function.
///
///     constexpr auto cost = trace(mlp, abstract<X>(512), abstract<W1>(), abstract<W2>());
///     static_assert(cost.collectives() == 0 && cost.peak_bytes_per_device() <= 16_MiB);
template <std::size_t Capacity = 64, class F, class... X>
[[nodiscard]] constexpr ledger trace(const F& f, X... operands) {
  program<Capacity> out;
  recorder steps(out.mesh, out.steps, std::int32_t{Capacity});
  detail::enter(out, steps, operands...);
  detail::keep(steps, f(operands...));
  detail::add_up(out, steps);
  return out.total;
}

}  // namespace shardwise
