// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/members.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/plan/abstract.hpp"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// The type of a nest with changed tensors: `Change::tensor<T, Extents, Layout>` replaces a tensor
/// with elements, `Change::abstract<...>` an abstract one. Class templates are instantiated with
/// changed arguments, arrays and tuples with changed members; other classes do not change. A
/// template argument that is an element type, as in `gpt<pod, float>`, becomes
/// `Change::element<T>`.
///
/// `Change::below<Change, I>` changes template argument `I` of a class, and `Change::module<Was,
/// Is>` is the class whose arguments were changed; see `changes_tensors`.
template <class T, class Change>
struct changed_nest {
  using type = T;
};
// These are matched by template: on paper, tensors with elements are declared but incomplete, so
// their members cannot be inspected.
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

/// A template argument of a class; ranges and similar types keep their numbers.
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
template <class Nest, class Change, class Places>
struct changed_class;
template <template <class...> class Nest, class... Members, class Change, std::size_t... I>
struct changed_class<Nest<Members...>, Change, std::index_sequence<I...>> {
  using type = Nest<typename changed_argument<Nest<Members...>, Members,
                                              typename Change::template below<Change, I>>::type...>;
};
template <template <class...> class Nest, class... Members, class Change>
struct changed_nest<Nest<Members...>, Change> {
  using type = typename Change::template module<
      Nest<Members...>,
      typename changed_class<Nest<Members...>, Change, std::index_sequence_for<Members...>>::type>;
};

/// A change of tensors only, wherever they are.
struct changes_tensors {
  template <class Self, std::size_t>
  using below = Self;
  template <class Was, class Is>
  using module = Is;
};

/// A change of element types, which buffers of a model keep.
struct changes_elements : changes_tensors {};
template <class Change>
concept ChangesElements = std::is_base_of_v<changes_elements, Change>;

/// On paper: the same tensors without elements.
struct to_paper : changes_tensors {
  template <class T>
  using element = T;
  template <class T, class Extents, class Layout>
  using tensor = abstract_tensor<T, Extents, Layout>;
  template <class T, class Extents, class Layout>
  using abstract = abstract_tensor<T, Extents, Layout>;
};

/// Replaces floating-point element types by `To`.
template <Fractional To>
struct to_fractions : changes_elements {
  template <class T>
  using element = std::conditional_t<Fractional<T>, To, T>;
  template <class T, class Extents, class Layout>
  using tensor = sharded_tensor<element<T>, Extents, Layout>;
  template <class T, class Extents, class Layout>
  using abstract = abstract_tensor<element<T>, Extents, Layout>;
};

}  // namespace internal

/// The type of a nest whose floating-point tensors have elements `To`; integer and `bool` tensors
/// and those of an `nn::buffer` do not change. A model must be a class template of its tensors, or
/// of their element type.
///
///     using narrow = with_fractions<bfloat16, nn::linear<W, B>>;
template <Fractional To, class Nest>
using with_fractions = typename internal::changed_nest<Nest, internal::to_fractions<To>>::type;

}  // namespace shardwise
