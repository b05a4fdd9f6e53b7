// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/make_nest.hpp"
#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/plan/trace.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace shardwise {

namespace detail {

template <class T>
struct paper_nest {
  using type = T;
};
template <Operand X>
struct paper_nest<X> {
  using type =
      abstract_tensor<typename X::value_type, typename X::extents_type, typename X::layout_type>;
};
template <class T, std::size_t N>
struct paper_nest<std::array<T, N>> {
  using type = std::array<typename paper_nest<T>::type, N>;
};
template <class X>
concept NoOperand = !Operand<X>;
template <template <class...> class Nest, class... Members>
  requires NoOperand<Nest<Members...>>
struct paper_nest<Nest<Members...>> {
  using type = Nest<typename paper_nest<Members>::type...>;
};

/// Enters the tensors of a nest into a program as its inputs, as they are made.
struct entered {
  program_builder& program;
  bool donated = false;

  template <class X>
  constexpr X operator()(std::type_identity<X>, const leaf_path&) const {
    X made = abstract<sharded_tensor<typename X::value_type, typename X::extents_type,
                                     typename X::layout_type>>();
    if (donated) made.give_up();
    made.enter(program, paper_of<X>::value);
    return made;
  }
};

/// Says which tensors of a nest a program keeps.
struct kept_by {
  program_builder& program;

  constexpr void operator()(const auto& x) const { program.keep(x.id_in(program)); }
};

}  // namespace detail

/// The same nest of tensors without elements: class templates are taken again with abstract tensors
/// in the place of their tensors, and arrays and tuples with abstract members. A class that is no
/// template stays what it is.
///
///     using paper_model = on_paper<nn::linear<W, B>>;
template <class Nest>
using on_paper = typename detail::paper_nest<Nest>::type;

/// Records what `f` does to nests of these types, without data and without running anything. What
/// `f` returns is a tensor or a nest of them.
///
///     constexpr auto recorded = trace_nests<512, model, X>(loss);
template <std::size_t Capacity, class... Nests, class F>
[[nodiscard]] constexpr traced_program<Capacity> trace_nests_program(const F& f) {
  traced_program<Capacity> out;
  program_builder code(out);
  const detail::entered enter{code};
  const std::tuple<on_paper<Nests>...> operands{make_nest<on_paper<Nests>>(enter)...};
  const auto result = std::apply(f, operands);
  const detail::kept_by keep{code};
  detail::for_each_tensor(result, keep);
  return out;
}

/// What `f` would cost on nests of these types: the `trace` of a whole training step.
///
///     constexpr auto cost = trace_nests<512, model, X, Y>(gradient(loss));
///     static_assert(cost.collectives("data") == 4);
template <std::size_t Capacity, class... Nests, class F>
[[nodiscard]] constexpr auto trace_nests(const F& f) {
  return ledger_of(trace_nests_program<Capacity, Nests...>(f));
}

}  // namespace shardwise
