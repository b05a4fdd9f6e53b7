// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/judge.hpp"
#include "shardwise/nn/changed_nest.hpp"
#include "shardwise/nn/plan.hpp"
#include "shardwise/nn/planned_parts.hpp"

#include <cstddef>
#include <type_traits>

namespace shardwise {

namespace detail {

/// The layout type that a plan assigns to a tensor; its own if it does not change.
template <class Parts, class Marked, class Layout>
struct planned_layout {
  struct wanted {
    static constexpr layout_desc layout_value = Parts::template layout_of<Marked>();
  };
  using type = changed_layout<Layout, wanted>;
};

/// The planned tensor of a marked one.
template <class Parts, class T, class Extents, class Layout>
struct planned_tensor {
  using type = abstract_tensor<T, Extents, Layout>;
};
template <class Parts, class T, class Extents, bool OnPaper, class Layout, class Place>
struct planned_tensor<Parts, T, Extents, marked_layout<OnPaper, Layout, Place>> {
  using marked = abstract_tensor<T, Extents, marked_layout<OnPaper, Layout, Place>>;
  using layout = typename planned_layout<Parts, marked, Layout>::type;
  using type = std::conditional_t<OnPaper, abstract_tensor<T, Extents, layout>,
                                  sharded_tensor<T, Extents, layout>>;
};

/// True for a rule that gives modules another spec for their result.
template <class Rule>
inline constexpr bool finishes = requires {
  requires Rule::finishes;
};

/// A module after the rules whose bits are set, in their order. Of those that finish its result,
/// the first one applies.
template <std::uint64_t Bits, bool IsFinished, class Module, class... Rules>
struct ruled_module {
  using type = Module;
};
template <std::uint64_t Bits, bool IsFinished, class Module, class First, class... Rest>
  requires((Bits & 1U) != 0)
struct ruled_module<Bits, IsFinished, Module, First, Rest...>
    : ruled_module<(Bits >> 1U), IsFinished || finishes<First>,
                   std::conditional_t<IsFinished && finishes<First>, Module,
                                      typename First::template module<Module>>,
                   Rest...> {};
template <std::uint64_t Bits, bool IsFinished, class Module, class First, class... Rest>
  requires((Bits & 1U) == 0 && Bits != 0)
struct ruled_module<Bits, IsFinished, Module, First, Rest...>
    : ruled_module<(Bits >> 1U), IsFinished, Module, Rest...> {};

/// The change of a marked model to the planned one.
template <class Parts>
struct to_planned {
  template <class Self, std::size_t>
  using below = Self;
  template <class Was, class Is>
  using module = typename Parts::template changed_module<Was, Is>;
  template <class T>
  using element = T;
  template <class T, class Extents, class Layout>
  using tensor = sharded_tensor<T, Extents, Layout>;
  template <class T, class Extents, class Layout>
  using abstract = typename planned_tensor<Parts, T, Extents, Layout>::type;
};

/// The result of checking a plan against a model, with the names involved.
template <class Parts>
inline constexpr plan_verdict verdict_on = Parts::verdict();
template <class Parts>
[[nodiscard]] constexpr auto judge_plan() noexcept {
  constexpr auto names = text_shown<called>([] { return verdict_on<Parts>.first; }) +
                         text_shown<called>([] { return verdict_on<Parts>.second; });
  if constexpr (verdict_on<Parts>.is_misused)
    return refused_with<verdict_on<Parts>.misused, of_types<>>(names);
  else
    return answer_to<>([] { return verdict_on<Parts>.broken; }, names);
}

/// A planned model, or the model itself if the plan is invalid.
template <class Model, class Rules>
struct planned_nest {
  using marked = typename changed_nest<Model, to_marked<void, 0>>::type;
  using parts = planned_parts<marked, Rules>;
  using judged = decltype(judge_plan<parts>());
  static_assert(sizeof(typename judged::type) > 0);

  template <bool Legal, class Parts>
  struct choose {
    using type = typename changed_nest<marked, to_planned<Parts>>::type;
  };
  template <class Parts>
  struct choose<false, Parts> {
    using type = Model;
  };
  using type = typename choose<judged::ok, parts>::type;
};
// Separate from `planned`, whose definition errors repeat.
template <class Model, class Rules>
struct planned_nest<const Model, Rules> : planned_nest<Model, Rules> {};
template <class Model, class Rules>
struct planned_nest<Model&, Rules> : planned_nest<Model, Rules> {};

}  // namespace detail

namespace nn {

/// The type of a model under a plan. The model must be a class template of its tensors, as for
/// `with_fractions`; arrays, tuples and vectors of such classes have parts with one name each.
/// Plans can be composed: a fully sharded model is stored under a plan of the planned model.
///
///     using split = nn::planned<model, tensor_parallel>;
///     using stored = nn::planned<split, nn::plan<nn::fully_sharded<"*", "data">>>;
template <class Model, Plan Rules>
using planned = typename detail::planned_nest<Model, Rules>::type;

}  // namespace nn

}  // namespace shardwise
