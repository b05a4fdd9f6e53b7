// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/fixed_string.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/core/text.hpp"

#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

/// The highest number of members of a class whose members can be enumerated; a member that is
/// itself such a class counts as one.
inline constexpr std::size_t max_members = 32;

namespace detail {

/// Converts to the type of any member in an unevaluated count of members; the conversion is never
/// called.
struct any_member {
  template <class T>
  [[noreturn]] operator T() const noexcept {
    std::abort();
  }
};

template <class T, std::size_t... I>
[[nodiscard]] constexpr bool has_room_for(std::index_sequence<I...>) noexcept {
  return requires { T{(static_cast<void>(I), any_member{})...}; };
}
/// Returns the highest number of values that `T{...}` takes. Members without a default must be
/// given, so too few values may fail where more succeed.
template <class T, std::size_t N = 1, bool Found = false>
[[nodiscard]] constexpr std::size_t count_members() noexcept {
  if constexpr (N > max_members + 1)
    return Found ? N - 1 : 0;
  else if constexpr (has_room_for<T>(std::make_index_sequence<N>{}))
    return count_members<T, N + 1, true>();
  else if constexpr (Found)
    return N - 1;
  else
    return count_members<T, N + 1>();
}

/// Converts to a base class of `T` only.
template <class T>
struct any_base {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  [[noreturn]] operator Base() const noexcept { std::abort(); }
};
/// A type without conversions, to detect classes that can be initialised with anything.
struct no_base {};
/// True if the first of `Count` initialisers of an aggregate initialises a base class, whose
/// members structured bindings do not find beside those of the class.
template <class T, std::size_t Count>
inline constexpr bool has_base_class = []<std::size_t... I>(std::index_sequence<I...>) {
  constexpr auto takes = []<class First>(First first) {
    return requires { T{first, (static_cast<void>(I), any_member{})...}; };
  };
  return takes(any_base<T>{}) && !takes(no_base{});
}
(std::make_index_sequence<Count - 1>{});
template <class T>
inline constexpr bool has_base_class<T, 0> = false;

}  // namespace detail

/// The number of members of an aggregate; 0 for a class without members, with more than
/// `max_members` or with a base class.
template <class T>
inline constexpr std::size_t member_count = [] {
  if constexpr (std::is_empty_v<T>) {
    return std::size_t{0};
  } else {
    constexpr std::size_t count = detail::count_members<T>();
    return count <= max_members && !detail::has_base_class<T, count> ? count : 0;
  }
}();

/// An aggregate whose members can be enumerated without code written for it: a class that `T{a, b}`
/// initializes, with only public members, no base classes and no C arrays.
template <class T>
concept Aggregate = std::is_class_v<T> && std::is_aggregate_v<T> &&
                    (std::is_empty_v<T> || member_count<T> > 0) &&
                    !requires {
  std::tuple_size<T>::value;
};

namespace detail {

/// True if `T{...}` takes more values than `max_members`. Fewer values may fail to initialize it,
/// because members without a default must be given.
template <class T, std::size_t N = max_members + 1>
[[nodiscard]] constexpr bool has_too_many_members() noexcept {
  constexpr std::size_t most_looked_for = 4 * max_members;
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || std::is_empty_v<T> ||
                N > most_looked_for)
    return false;
  else if constexpr (has_room_for<T>(std::make_index_sequence<N>{}))
    return true;
  else
    return has_too_many_members<T, N + 1>();
}

/// True for an aggregate with a base class.
template <class T>
[[nodiscard]] constexpr bool has_some_base_class() noexcept {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || std::is_empty_v<T>)
    return false;
  else
    return has_base_class<T, count_members<T>()>;
}

}  // namespace detail

namespace internal {

/// Rejects a class in a nest whose members cannot be traversed: too many, or beside a base class.
template <class T>
constexpr void require_members() noexcept {
  static_assert(!has_too_many_members<T>(),
                "a class of a nest has at most 32 members, or its tensors would not be found: "
                "group some in a class or an array of their own");
  static_assert(!has_some_base_class<T>(),
                "a class of a nest has no base class, or its tensors would not be found: make the "
                "base a member");
}

}  // namespace internal

/// Returns `f(members...)` of references to the members of an aggregate, in the order of
/// declaration.
///
///     struct layer { weights w; bias b; };
///     with_members(some_layer, [](auto&... members) { (print(members), ...); });
template <class T, class F>
  requires Aggregate<std::remove_const_t<T>>
constexpr decltype(auto) with_members(T& object, F&& f) {
  constexpr std::size_t n = member_count<std::remove_const_t<T>>;
  if constexpr (n == 0) {
    return f();
  } else if constexpr (n == 1) {
    auto& [m0] = object;
    return f(m0);
  } else if constexpr (n == 2) {
    auto& [m0, m1] = object;
    return f(m0, m1);
  } else if constexpr (n == 3) {
    auto& [m0, m1, m2] = object;
    return f(m0, m1, m2);
  } else if constexpr (n == 4) {
    auto& [m0, m1, m2, m3] = object;
    return f(m0, m1, m2, m3);
  } else if constexpr (n == 5) {
    auto& [m0, m1, m2, m3, m4] = object;
    return f(m0, m1, m2, m3, m4);
  } else if constexpr (n == 6) {
    auto& [m0, m1, m2, m3, m4, m5] = object;
    return f(m0, m1, m2, m3, m4, m5);
  } else if constexpr (n == 7) {
    auto& [m0, m1, m2, m3, m4, m5, m6] = object;
    return f(m0, m1, m2, m3, m4, m5, m6);
  } else if constexpr (n == 8) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7);
  } else if constexpr (n == 9) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8);
  } else if constexpr (n == 10) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9);
  } else if constexpr (n == 11) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
  } else if constexpr (n == 12) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
  } else if constexpr (n == 13) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
  } else if constexpr (n == 14) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
  } else if constexpr (n == 15) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
  } else if constexpr (n == 16) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15);
  } else if constexpr (n == 17) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16);
  } else if constexpr (n == 18) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17);
  } else if constexpr (n == 19) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] =
        object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18);
  } else if constexpr (n == 20) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
           m19] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19);
  } else if constexpr (n == 21) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20);
  } else if constexpr (n == 22) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21);
  } else if constexpr (n == 23) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22);
  } else if constexpr (n == 24) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23);
  } else if constexpr (n == 25) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23, m24);
  } else if constexpr (n == 26) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23, m24, m25);
  } else if constexpr (n == 27) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23, m24, m25, m26);
  } else if constexpr (n == 28) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23, m24, m25, m26, m27);
  } else if constexpr (n == 29) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23, m24, m25, m26, m27, m28);
  } else if constexpr (n == 30) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28, m29] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29);
  } else if constexpr (n == 31) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30);
  } else if constexpr (n == 32) {
    auto& [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
           m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31] = object;
    return f(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18,
             m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31);
  }
}

/// Returns references to the members of an aggregate as a tuple, in the order of declaration.
///
///     auto [w, b] = members_of(some_layer);
template <class T>
  requires Aggregate<std::remove_const_t<T>>
[[nodiscard]] constexpr auto members_of(T& object) noexcept {
  return with_members(object, [](auto&... members) { return std::tie(members...); });
}

namespace internal {

template <std::size_t I, class T>
struct listed_reference {
  T& to;
};
template <class Places, class... T>
struct reference_list;
template <std::size_t... I, class... T>
struct reference_list<std::index_sequence<I...>, T...> : listed_reference<I, T>... {
  static constexpr std::size_t size = sizeof...(T);
};
/// Returns a list of references, which takes a compiler a fraction of the time of a tuple.
template <class... T>
[[nodiscard]] constexpr auto list_references(T&... objects) noexcept {
  return reference_list<std::index_sequence_for<T...>, T...>{{objects}...};
}
/// Returns the object that reference `I` of a list refers to.
template <std::size_t I, class T>
[[nodiscard]] constexpr T& nth(const listed_reference<I, T>& list) noexcept {
  return list.to;
}
/// The type of that object, without `const`.
template <std::size_t I, class List>
using nth_type = std::remove_cvref_t<decltype(nth<I>(std::declval<const List&>()))>;

/// Returns references to the members of an aggregate as a list.
template <class T>
[[nodiscard]] constexpr auto list_members(T& object) noexcept {
  return with_members(object, [](auto&... members) { return list_references(members...); });
}

#if defined(__clang__)
#pragma clang diagnostic push
// No object is needed, only the names of its members.
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
/// Storage that gives the members addresses without an object: declared, never defined.
template <class T>
struct nowhere {
  const T object;
};
template <class T>
extern const nowhere<T> unmade;

template <class Pointer>
struct pointer_to_member {
  Pointer to;
};
template <class Pointer>
pointer_to_member(Pointer) -> pointer_to_member<Pointer>;

/// The compiler's name of the function instantiated for a member. The name of the member is its
/// last word: `... [W = pointer_to_member<const T *>{&unmade.object.weight}]`.
template <pointer_to_member Member>
[[nodiscard]] constexpr text_view last_word() noexcept {
  const text_view all(__PRETTY_FUNCTION__, sizeof(__PRETTY_FUNCTION__) - 1);
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::size_t end = all.size();
  while (end > 0 && !is_part(all[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_part(all[begin - 1])) --begin;
  return {all.data() + begin, end - begin};
}

/// The name of a member. A copy: the compiler's name of the function, which contains the types of
/// whole models, does not become part of the program.
template <pointer_to_member Member>
inline constexpr auto member_name =
    to_fixed_string<last_word<Member>().size()>(last_word<Member>());

template <class T, std::size_t... I>
[[nodiscard]] constexpr inplace_vector<text_view, max_members> name_members(
    std::index_sequence<I...>) noexcept {
  const auto name = [](const auto& held) { return text_view(held.data(), held.size()); };
  return {name(member_name<pointer_to_member{&nth<I>(list_members(unmade<T>.object))}>)...};
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace internal

/// The names of the members of an aggregate, as written in its definition.
///
///     static_assert(member_names<layer>[0] == "w");
template <Aggregate T>
inline constexpr inplace_vector<text_view, max_members> member_names =
    internal::name_members<T>(std::make_index_sequence<member_count<T>>{});

}  // namespace shardwise
