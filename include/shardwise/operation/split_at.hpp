// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/slice.hpp"

#include <tuple>
#include <utility>

namespace shardwise {

namespace detail {

/// The call `split_at<Dim, Ends...>`: a slice for each part; `Ends` are the boundaries.
template <int Dim, index_t... Ends>
struct split_call {
  static constexpr int parts = int{sizeof...(Ends)} - 1;
  static constexpr index_t ends[] = {Ends...};
  template <int Part>
  using part_call = whole_call<strided_slice_of<Dim, ends[Part], ends[Part + 1], 1>>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    return judge_parts<const std::remove_cvref_t<X>&>(std::make_integer_sequence<int, parts>{});
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& x) {
    return apply_parts(x, std::make_integer_sequence<int, parts>{});
  }

 private:
  template <class X, int... Part>
  [[nodiscard]] static constexpr auto judge_parts(std::integer_sequence<int, Part...>) noexcept {
    using judged = typename first_refusal<decltype(part_call<Part>::template judge<X>())...>::type;
    if constexpr (judged::ok)
      return allowed<
          std::tuple<typename decltype(part_call<Part>::template judge<X>())::type...>>{};
    else
      return judged{};
  }
  template <class X, int... Part>
  [[nodiscard]] static constexpr auto apply_parts(const X& x, std::integer_sequence<int, Part...>) {
    return std::tuple{part_call<Part>::apply(x)...};
  }
};

}  // namespace detail

/// Returns the parts of a tensor between these indices of a dimension, as a tuple; the dimension
/// must not be split.
///
///     auto [q, k, v] = split_at<1, 64, 80>(x);      // f32[8@data, 96] -> 64, 16 and 16 columns
template <int Dim, index_t... Indices, NamedOperand X>
[[nodiscard]] constexpr detail::outcome_of<detail::split_call<Dim, 0, Indices..., open_end>, X>
split_at(X&& x) {
  return detail::carry_out<detail::split_call<Dim, 0, Indices..., open_end>>(static_cast<X&&>(x));
}

}  // namespace shardwise
