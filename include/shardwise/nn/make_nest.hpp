// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace shardwise {

namespace detail {

template <class Nest, bool LeavesOut, class Make>
[[nodiscard]] constexpr Nest made_nest(const Make& make, const leaf_path& path);

/// Converts to the member of a nest in whose place it is.
template <bool LeavesOut, class Make>
struct member_maker {
  const Make& make;
  leaf_path path;

  template <class X>
  constexpr operator X() const {
    return made_nest<X, LeavesOut>(make, path);
  }
};

/// Makes the tensors of a part that is left out: on paper, of no program.
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
    return all(std::make_index_sequence<member_count<Nest>>{});
  } else if constexpr (operand_kind_of<Nest> == operand_kind::refused_tensor) {
    return refused_value{};
  } else {
    return Nest{};
  }
}

}  // namespace detail

/// Creates a nest from its type: `make(type, path)` returns the tensor for each leaf, in the order
/// of declaration. Members that are not tensors are `T{}`; a dynamic range is empty. Frozen parts
/// in the state of an optimizer are left out.
///
///     auto model = make_nest<gpt>([&]<class X>(std::type_identity<X>, const leaf_path&) {
///       return zeros<X>(pool);
///     });
template <class Nest, class Make>
[[nodiscard]] constexpr Nest make_nest(const Make& make, const leaf_path& path = {}) {
  return detail::made_nest<Nest, false>(make, path);
}

}  // namespace shardwise
