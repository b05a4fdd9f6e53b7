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

/// The same nest of tensors without elements: class templates are instantiated with abstract
/// tensors, and arrays and tuples with abstract members. A class that is not a template does not
/// change.
///
///     using paper_model = on_paper<nn::linear<W, B>>;
template <class Nest>
using on_paper = typename internal::changed_nest<Nest, internal::to_paper>::type;

namespace detail {

/// Makes the tensors of a nest inputs of a program when they are created; `Sizes` are those of the
/// dyn axes of their mesh.
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

/// Marks the tensors of a nest that a program keeps.
struct kept_by {
  program_builder& program;

  constexpr void operator()(const auto& x) const { program.keep(x.id_in(program)); }
};

/// True if there is an error in the function that returns `Results`.
template <class Results, class F, class... Nests>
inline constexpr bool refuses_nests = internal::holds_refusal<std::remove_cvref_t<Results>> ||
                                      internal::refuses_silently<F, on_paper<Nests>...>;

/// The size of a nest of these types: elements, and bytes on the device that holds most.
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

/// Returns the number of elements in the tensors of a nest of this type, independently of layouts.
///
///     static_assert(nest_elements<nn::linear<W, B>> == 64 * 32 + 32);
template <class Nest>
inline constexpr index_t nest_elements = detail::sizes_of_nest<Nest>.elements;
/// Returns the number of bytes of a nest of this type on one device, the one that holds most.
///
///     static_assert(3 * nest_bytes<model> <= 80_GiB);        // with the two moments of Adam
template <class Nest>
inline constexpr index_t nest_bytes = detail::sizes_of_nest<Nest>.bytes;

/// Records the operations of `f` on nests of these types, without data and without running
/// anything. The result of `f` is a tensor or a nest of them; `sizes` are those of the dyn axes of
/// the mesh.
///
///     constexpr auto recorded = trace_nests_program<512, model, X>(loss);
template <std::size_t Capacity, class... Nests, class F, std::convertible_to<index_t>... Sizes>
[[nodiscard]] constexpr auto trace_nests_program(const F& f, Sizes... sizes) {
  // Named here, where the program calls, so that compilers show an error in `f` in few lines.
  using results = decltype(f(std::declval<const on_paper<Nests>&>()...));
  if constexpr (detail::refuses_nests<results, F, Nests...>) {
    return internal::refused_program<Capacity>{};
  } else {
    (detail::require_defaults<on_paper<Nests>>(), ...);
    traced_program<Capacity> out;
    program_builder code(out);
    const detail::entered<Sizes...> enter{code, {sizes...}};
    const std::tuple<on_paper<Nests>...> operands{make_nest<on_paper<Nests>>(enter)...};
    const auto result = internal::call_with(f, operands);
    const detail::kept_by keep{code};
    internal::for_each_tensor(result, keep);
    return out;
  }
}

/// Returns the cost of `f` on nests of these types: the `trace` of a whole training step.
///
///     constexpr auto cost = trace_nests<512, model, X, Y>(gradient(loss));
///     static_assert(cost.collectives("data") == 4);
template <std::size_t Capacity, class... Nests, class F, std::convertible_to<index_t>... Sizes>
[[nodiscard]] constexpr auto trace_nests(const F& f, Sizes... sizes) {
  using results = decltype(f(std::declval<const on_paper<Nests>&>()...));
  if constexpr (detail::refuses_nests<results, F, Nests...>)
    return internal::refused_ledger{};
  else
    return ledger_of(trace_nests_program<Capacity, Nests...>(f, sizes...));
}

}  // namespace shardwise
