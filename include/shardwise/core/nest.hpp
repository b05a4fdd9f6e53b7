// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/members.hpp"

namespace shardwise {

/// The path of a leaf of a nested structure: `blocks.3.attention.query`.
using leaf_path = bounded_text<120>;

namespace internal {

template <class T>
concept TupleLike = requires {
  std::tuple_size<std::remove_const_t<T>>::value;
};

template <class T>
concept RangeOfNests = !TupleLike<T> && requires(T & range) {
  range.begin() != range.end();
};

template <class T>
concept OptionalNest = !RangeOfNests<T> && requires(T & maybe) {
  static_cast<bool>(maybe);
  *maybe;
};

/// A part of a model that is not a parameter: a class with `never_trained` and a member `value`. A
/// second one, `is_left_out`, is true in gradients.
template <class T>
concept FrozenNest = requires {
  typename T::never_trained;
};

/// True for a frozen part of a gradient, or of the state of an optimizer.
template <FrozenNest Part>
[[nodiscard]] constexpr bool is_left_out(const Part& part) noexcept {
  if constexpr (requires { part.is_left_out; })
    return part.is_left_out;
  else
    return false;
}

/// A frozen part that the program itself updates.
template <class T>
concept BufferNest = FrozenNest<T> && requires {
  typename T::updated_by_program;
};

/// A class in which frozen parts are left out, such as the state of an optimizer.
template <class T>
concept LeavesOutFrozen = requires {
  typename T::leaves_out_frozen;
};

/// A wrapper with one member, marked `adds_no_name`: the member has the path of the wrapper itself.
template <class T>
concept NamelessWrapper = requires {
  typename T::adds_no_name;
};

/// Returns the path of an element.
template <class Step>
[[nodiscard]] constexpr leaf_path step_down(leaf_path path, const Step& step) noexcept {
  if (!path.empty()) path << '.';
  return path << step;
}
/// Returns the path of a member of an aggregate.
template <class T>
[[nodiscard]] constexpr leaf_path member_path(const leaf_path& path, std::size_t member) noexcept {
  return NamelessWrapper<T> ? path : step_down(path, member_names<T>[member]);
}

/// Calls `f(path, leaves...)`, or `f(leaves...)` if the function takes no path.
template <class F, class... Leaf>
constexpr void call_with_leaves(const F& f, const leaf_path& path, Leaf&... leaves) {
  if constexpr (
      requires { f(leaves...); } && !requires { f(path, leaves...); })
    f(leaves...);
  else
    f(path, leaves...);
}

}  // namespace internal

/// Calls `f(leaf, path)` for every leaf of a nested structure (a pytree in JAX), in the order of
/// declaration. The structure may consist of aggregates, arrays, tuples, ranges such as vectors,
/// and pointers or optionals, which may be empty; `Leaf::is<T>` decides which types are leaves.
/// Frozen parts that are left out of a gradient are skipped.
/// Other types are skipped, except that a class with more than `max_members` members does not
/// compile.
///
///     for_each_leaf<tensors>(model, [](auto& w, const leaf_path& path) { ... });   // "layers.0.w"
template <class Leaf, class Nest, class F>
constexpr void for_each_leaf(Nest& nest, const F& f, const leaf_path& path = {}) {
  using type = std::remove_const_t<Nest>;
  if constexpr (Leaf::template is<type>) {
    f(nest, path);
  } else if constexpr (internal::TupleLike<type>) {
    const auto each = [&]<std::size_t... I>(std::index_sequence<I...>) {
      using std::get;
      (for_each_leaf<Leaf>(get<I>(nest), f, internal::step_down(path, I)), ...);
    };
    each(std::make_index_sequence<std::tuple_size<type>::value>{});
  } else if constexpr (internal::RangeOfNests<Nest>) {
    std::size_t i = 0;
    for (auto& item : nest) for_each_leaf<Leaf>(item, f, internal::step_down(path, i++));
  } else if constexpr (internal::OptionalNest<Nest>) {
    if (nest) for_each_leaf<Leaf>(*nest, f, path);
  } else if constexpr (internal::FrozenNest<type>) {
    if (!internal::is_left_out(nest)) for_each_leaf<Leaf>(nest.value, f, path);
  } else if constexpr (Aggregate<type>) {
    with_members(nest, [&](auto&... members) {
      std::size_t i = 0;
      (for_each_leaf<Leaf>(members, f, internal::member_path<type>(path, i++)), ...);
    });
  } else {
    internal::require_members<type>();
  }
}

}  // namespace shardwise
