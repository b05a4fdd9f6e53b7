// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/nn/changed_nest.hpp"
#include "shardwise/plan/abstract.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise::internal {

/// A layout with the position of its tensor in the type of a model, so that equal tensor types at
/// different positions become distinct: `mlp<linear<W>, linear<W>>` has `W` at 0, 0 and at 1, 0.
template <bool OnPaper, class Layout, class Place>
struct marked_layout : Layout {};

/// Marks the tensors of a nest with their positions: argument `I` of the class at `Outer`.
template <class Outer, std::size_t I>
struct to_marked {
  template <class Self, std::size_t Argument>
  using below = to_marked<Self, Argument>;
  template <class Was, class Is>
  using module = Is;
  template <class T>
  using element = T;
  template <class T, class Extents, class Layout>
  using tensor = abstract_tensor<T, Extents, marked_layout<false, Layout, to_marked>>;
  template <class T, class Extents, class Layout>
  using abstract = abstract_tensor<T, Extents, marked_layout<true, Layout, to_marked>>;
};
/// The allocator of a range is for the type that is its first argument.
template <class T, class Outer, std::size_t I>
struct changed_nest<std::allocator<T>, to_marked<Outer, I>> {
  using type = std::allocator<typename changed_nest<T, to_marked<Outer, 0>>::type>;
};

template <class X>
inline constexpr bool is_marked = false;
template <class T, class Extents, bool OnPaper, class Layout, class Place>
inline constexpr bool
    is_marked<abstract_tensor<T, Extents, marked_layout<OnPaper, Layout, Place>>> = true;

/// Calls `f(type, path)` for each tensor and each aggregate in the type of a nest, with the names
/// that its objects have; a range has one element, and an optional has a value.
template <class Nest, class F>
constexpr void for_each_part(const F& f, const leaf_path& path = {}) {
  if constexpr (EitherOperand<Nest>) {
    f(std::type_identity<Nest>{}, path);
  } else if constexpr (FrozenNest<Nest>) {
    for_each_part<decltype(Nest::value)>(f, path);
  } else if constexpr (TupleLike<Nest>) {
    for_each_index<std::tuple_size<Nest>::value>([&]<std::size_t I>() {
      for_each_part<std::tuple_element_t<I, Nest>>(f, step_down(path, I));
    });
  } else if constexpr (RangeOfNests<Nest>) {
    for_each_part<std::remove_cvref_t<decltype(*std::declval<Nest&>().begin())>>(
        f, step_down(path, 0));
  } else if constexpr (OptionalNest<Nest>) {
    for_each_part<std::remove_cvref_t<decltype(*std::declval<Nest&>())>>(f, path);
  } else if constexpr (Aggregate<Nest>) {
    // A wrapper has the name of the object in it.
    if constexpr (!NamelessWrapper<Nest>) f(std::type_identity<Nest>{}, path);
    using members = decltype(list_members(std::declval<Nest&>()));
    for_each_index<member_count<Nest>>([&]<std::size_t I>() {
      for_each_part<nth_type<I, members>>(f, member_path<Nest>(path, I));
    });
  } else {
    require_members<Nest>();
  }
}

/// True if a type is another, or contains it as a template argument at any depth.
template <class Whole, class Part>
inline constexpr bool has_argument = std::is_same_v<Whole, Part>;
template <class T, std::size_t N, class Part>
inline constexpr bool has_argument<std::array<T, N>, Part> =
    std::is_same_v<std::array<T, N>, Part> || has_argument<T, Part>;
template <template <class...> class Whole, class... A, class Part>
inline constexpr bool has_argument<Whole<A...>, Part> = std::is_same_v<Whole<A...>, Part> ||
                                                        (... || has_argument<A, Part>);

/// True for a class that a change of a nest may convert to another.
template <class T>
inline constexpr bool is_class_template = false;
template <template <class...> class Whole, class... A>
inline constexpr bool is_class_template<Whole<A...>> = true;

/// An object for each type, whose address identifies the type.
template <class T>
inline constexpr char identity_of_type = 0;

}  // namespace shardwise::internal
