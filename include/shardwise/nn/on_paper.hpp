// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/changed_nest.hpp"
#include "shardwise/nn/make_nest.hpp"
#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/plan/trace.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace shardwise {

namespace detail {

/// Enters the tensors of a nest into a program as its inputs, as they are made; `Sizes` are those
/// of the dyn axes of their mesh.
template <class... Sizes>
struct entered {
  program_builder& program;
  std::tuple<Sizes...> sizes{};
  bool donated = false;

  template <class X>
  constexpr X operator()(std::type_identity<X>, const leaf_path&) const {
    using typed =
        sharded_tensor<typename X::value_type, typename X::extents_type, typename X::layout_type>;
    X made = std::apply([](Sizes... all) { return abstract<typed>(all...); }, sizes);
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
using on_paper = typename detail::changed_nest<Nest, detail::to_paper>::type;

namespace detail {

/// What a nest of these types has: elements, and bytes on the device that holds most.
struct nest_sizes {
  index_t elements = 0;
  index_t bytes = 0;
};
template <class Nest>
inline constexpr nest_sizes sizes_of_nest = [] {
  nest_sizes all;
  const auto count = [&]<class X>(std::type_identity<X>, const leaf_path&) {
    const tensor_desc& each = paper_of<X>::value;
    all.elements += element_count(each.extents);
    all.bytes += bytes_per_device(mesh_of<X>::value, each);
    return X(abstract<sharded_tensor<typename X::value_type, typename X::extents_type,
                                     typename X::layout_type>>());
  };
  (void)make_nest<on_paper<Nest>>(count);
  return all;
}();

}  // namespace detail

/// How many numbers the tensors of a nest of this type have, whatever devices hold them.
///
///     static_assert(nest_elements<nn::linear<W, B>> == 64 * 32 + 32);
template <class Nest>
inline constexpr index_t nest_elements = detail::sizes_of_nest<Nest>.elements;
/// How many bytes of a nest of this type one device holds: the one that holds most.
///
///     static_assert(3 * nest_bytes<model> <= 80_GiB);        // with the two moments of Adam
template <class Nest>
inline constexpr index_t nest_bytes = detail::sizes_of_nest<Nest>.bytes;

/// Records what `f` does to nests of these types, without data and without running anything. What
/// `f` returns is a tensor or a nest of them; `sizes` are those of the dyn axes of the mesh.
///
///     constexpr auto recorded = trace_nests_program<512, model, X>(loss);
template <std::size_t Capacity, class... Nests, class F, std::convertible_to<index_t>... Sizes>
[[nodiscard]] constexpr traced_program<Capacity> trace_nests_program(const F& f, Sizes... sizes) {
  traced_program<Capacity> out;
  program_builder code(out);
  const detail::entered<Sizes...> enter{code, {sizes...}};
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
template <std::size_t Capacity, class... Nests, class F, std::convertible_to<index_t>... Sizes>
[[nodiscard]] constexpr auto trace_nests(const F& f, Sizes... sizes) {
  return ledger_of(trace_nests_program<Capacity, Nests...>(f, sizes...));
}

}  // namespace shardwise
