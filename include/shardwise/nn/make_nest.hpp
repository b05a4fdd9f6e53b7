// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

template <class Nest, bool LeavesOut, class Make>
[[nodiscard]] constexpr Nest made_nest(const Make& make, const leaf_path& path);

/// An initialiser that converts to the type of the member that it initialises.
template <bool LeavesOut, class Make>
struct member_maker {
  const Make& make;
  leaf_path path;

  template <class X>
  constexpr operator X() const {
    return made_nest<X, LeavesOut>(make, path);
  }
};

/// Makes the tensors of a part that is left out; abstract ones belong to no program.
template <class Make>
struct left_out_maker {
  const Make& make;

  template <class X>
  constexpr X operator()(std::type_identity<X> type, const leaf_path& path) const {
    if constexpr (requires { X{{mesh_of<X>::value, X::extents_type::value}}; })
      return X{{mesh_of<X>::value, X::extents_type::value}};
    else
      return make(type, path);
  }
};

/// True for a part of a nest with tensors, which may be frozen or invalid.
template <class Part>
inline constexpr bool has_tensors =
    internal::any_in_nest<Part>([]<class Each>(std::type_identity<Each>) {
      return EitherOperand<Each> || FrozenNest<Each> ||
             operand_kind_of<Each> == operand_kind::refused_tensor;
    });
/// How many members of an aggregate are made: those up to the last one with tensors. The others
/// have their default values.
template <class Nest>
inline constexpr std::size_t members_to_make = [] {
  using members = decltype(internal::list_members(std::declval<Nest&>()));
  std::size_t count = 0;
  for_each_index<members::size>([&]<std::size_t I>() {
    if (has_tensors<nth_type<I, members>>) count = I + 1;
  });
  return count;
}();

// Members without an initialiser are value-initialised, which is intended.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/// Creates a nest; `LeavesOut` states whether its frozen parts are left out.
template <class Nest, bool LeavesOut, class Make>
[[nodiscard]] constexpr Nest made_nest(const Make& make, const leaf_path& path) {
  constexpr nest_kind kind = nest_kind_of<Nest>();
  if constexpr (kind == nest_kind::tensor) {
    return make(std::type_identity<Nest>{}, path);
  } else if constexpr (kind == nest_kind::frozen) {
    if constexpr (LeavesOut && requires(Nest & part) { part.is_left_out; })
      return Nest{made_nest<decltype(Nest::value), true>(left_out_maker<Make>{make}, path), true};
    else
      return Nest{made_nest<decltype(Nest::value), LeavesOut>(make, path)};
  } else if constexpr (kind == nest_kind::tuple) {
    const auto all = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Nest{made_nest<std::tuple_element_t<I, Nest>, LeavesOut>(make, step_down(path, I))...};
    };
    return all(std::make_index_sequence<std::tuple_size<Nest>::value>{});
  } else if constexpr (kind == nest_kind::aggregate) {
    constexpr bool leaves_out = LeavesOut || LeavesOutFrozen<Nest>;
    const auto all = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Nest{member_maker<leaves_out, Make>{make, member_path<Nest>(path, I)}...};
    };
    return all(std::make_index_sequence<members_to_make<Nest>>{});
  } else if constexpr (operand_kind_of<Nest> == operand_kind::refused_tensor) {
    return refused_value{};
  } else {
    return Nest{};
  }
}

#pragma GCC diagnostic pop

/// True if a nest that is made from its type has the default values of all its members: no member
/// with a value of its own stands before one with tensors.
template <class Nest>
[[nodiscard]] constexpr bool keeps_defaults() noexcept {
  constexpr internal::nest_kind kind = internal::nest_kind_of<Nest>();
  bool keeps = true;
  if constexpr (kind == internal::nest_kind::tuple) {
    for_each_index<std::tuple_size<Nest>::value>(
        [&]<std::size_t I>() { keeps = keeps && keeps_defaults<std::tuple_element_t<I, Nest>>(); });
  } else if constexpr (kind == internal::nest_kind::frozen) {
    keeps = keeps_defaults<decltype(Nest::value)>();
  } else if constexpr (kind == internal::nest_kind::aggregate) {
    using members = decltype(internal::list_members(std::declval<Nest&>()));
    for_each_index<members_to_make<Nest>>([&]<std::size_t I>() {
      using member = nth_type<I, members>;
      keeps = keeps && (has_tensors<member> ? keeps_defaults<member>() : std::is_empty_v<member>);
    });
  }
  return keeps;
}
/// Reports a nest that does not.
template <class Nest>
constexpr void require_defaults() {
  using judged = std::conditional_t<keeps_defaults<Nest>(), allowed<>,
                                    refused<misuse::member_default_is_lost, of_types<Nest>>>;
  using reported [[maybe_unused]] = decltype(typename judged::type{});
}

}  // namespace detail

/// Creates a nest from its type: `make(type, path)` returns the tensor for each leaf, in the order
/// of declaration. Members that are not tensors have their default values if they follow the
/// tensors, and are `T{}` otherwise; a dynamic range is empty. Frozen parts in the state of an
/// optimizer are left out.
///
///     auto model = make_nest<gpt>([&]<class X>(std::type_identity<X>, const leaf_path&) {
///       return zeros<X>(pool);
///     });
template <class Nest, class Make>
[[nodiscard]] constexpr Nest make_nest(const Make& make, const leaf_path& path = {}) {
  return detail::made_nest<Nest, false>(make, path);
}

}  // namespace shardwise
