// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/members.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/plan/abstract.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

namespace shardwise {

namespace detail {

/// The type of a nest whose tensors are changed: `Change::tensor<T, Extents, Layout>` is the type
/// of one that has elements, `Change::abstract<...>` that of one on paper. Class templates are
/// taken again with changed arguments, arrays and tuples with changed members; a class that is no
/// template stays what it is. An argument that is a type of elements, as in `gpt<pod, float>`, is
/// `Change::element<T>`.
template <class T, class Change>
struct changed_nest {
  using type = T;
};
// Known by their templates: where there is only paper, tensors that have elements are declared
// alone, and a nest of them is no class that anybody could look into.
template <class T, class Extents, class Layout, class Change>
struct changed_nest<sharded_tensor<T, Extents, Layout>, Change> {
  using type = typename Change::template tensor<T, Extents, Layout>;
};
template <class T, class Extents, class Layout, class Change>
struct changed_nest<abstract_tensor<T, Extents, Layout>, Change> {
  using type = typename Change::template abstract<T, Extents, Layout>;
};
template <class T, std::size_t N, class Change>
struct changed_nest<std::array<T, N>, Change> {
  using type = std::array<typename changed_nest<T, Change>::type, N>;
};

/// A template argument of a class: ranges and the like keep their numbers.
template <class Whole, class T, class Change>
struct changed_argument : changed_nest<T, Change> {};
template <class Whole, Element T, class Change>
struct changed_argument<Whole, T, Change> {
  template <bool IsModel, class Held>
  struct choose {
    using type = Held;
  };
  template <class Held>
  struct choose<true, Held> {
    using type = typename Change::template element<Held>;
  };
  using type = typename choose<Aggregate<Whole>, T>::type;
};
template <template <class...> class Nest, class... Members, class Change>
struct changed_nest<Nest<Members...>, Change> {
  using type = Nest<typename changed_argument<Nest<Members...>, Members, Change>::type...>;
};

/// On paper: the same tensors without elements.
struct to_paper {
  template <class T>
  using element = T;
  template <class T, class Extents, class Layout>
  using tensor = abstract_tensor<T, Extents, Layout>;
  template <class T, class Extents, class Layout>
  using abstract = abstract_tensor<T, Extents, Layout>;
};

/// With other fractions: `To`.
template <Fractional To>
struct to_fractions {
  template <class T>
  using element = std::conditional_t<Fractional<T>, To, T>;
  template <class T, class Extents, class Layout>
  using tensor = sharded_tensor<element<T>, Extents, Layout>;
  template <class T, class Extents, class Layout>
  using abstract = abstract_tensor<element<T>, Extents, Layout>;
};

}  // namespace detail

/// The type of a nest of tensors whose fractions are `To`; whole numbers and truth values stay. A
/// model is a class template of its tensors, or of their elements.
///
///     using narrow = with_fractions<bfloat16, nn::linear<W, B>>;
template <Fractional To, class Nest>
using with_fractions = typename detail::changed_nest<Nest, detail::to_fractions<To>>::type;

}  // namespace shardwise
