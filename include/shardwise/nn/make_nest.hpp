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

/// Converts to the member of a nest in whose place it is.
template <class Make>
struct member_maker {
  const Make& make;
  leaf_path path;

  template <class X>
  constexpr operator X() const;
};

}  // namespace detail

/// Creates a nest from its type: `make(type, path)` returns the tensor for each leaf, in the order
/// of declaration. Members that are not tensors are `T{}`; a dynamic range is empty.
///
///     auto model = make_nest<gpt>([&]<class X>(std::type_identity<X>, const leaf_path&) {
///       return zeros<X>(pool);
///     });
template <class Nest, class Make>
[[nodiscard]] constexpr Nest make_nest(const Make& make, const leaf_path& path = {}) {
  constexpr detail::nest_kind kind = detail::nest_kind_of<Nest>();
  if constexpr (kind == detail::nest_kind::tensor) {
    return make(std::type_identity<Nest>{}, path);
  } else if constexpr (kind == detail::nest_kind::frozen) {
    return Nest{make_nest<decltype(Nest::value)>(make, path)};
  } else if constexpr (kind == detail::nest_kind::tuple) {
    const auto all = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Nest{make_nest<std::tuple_element_t<I, Nest>>(make, detail::step_down(path, I))...};
    };
    return all(std::make_index_sequence<std::tuple_size<Nest>::value>{});
  } else if constexpr (kind == detail::nest_kind::aggregate) {
    const auto all = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Nest{detail::member_maker<Make>{make, detail::member_path<Nest>(path, I)}...};
    };
    return all(std::make_index_sequence<member_count<Nest>>{});
  } else if constexpr (detail::operand_kind_of<Nest> == detail::operand_kind::refused_tensor) {
    return refused_value{};
  } else {
    return Nest{};
  }
}

template <class Make>
template <class X>
constexpr detail::member_maker<Make>::operator X() const {
  return make_nest<X>(make, path);
}

}  // namespace shardwise
