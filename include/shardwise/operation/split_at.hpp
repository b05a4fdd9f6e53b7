// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/slice.hpp"

#include <tuple>
#include <utility>

namespace shardwise {

namespace detail {

/// The call `split_at<Dim, ...>`: a slice for each part, between the boundaries. Its operand is
/// gathered once if the dimension is split over permitted axes.
template <class Permitted, int Dim, index_t First, index_t Second, index_t... Ends>
struct split_call {
  static constexpr int parts = int{sizeof...(Ends)} + 1;
  static constexpr index_t ends[] = {First, Second, Ends...};
  template <int Part>
  using part_of = strided_slice_of<Dim, ends[Part], ends[Part + 1], 1>;
  template <int Part>
  using part_call = fetching_call<part_of<Part>, Permitted>;
  /// Gathers for all parts: an empty slice needs the whole dimension, others may need a halo.
  using gather = fetching_call<strided_slice_of<Dim, 0, 0, 1>, Permitted>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using first = decltype(gather::template judge<X>());
    if constexpr (first::ok)
      return judge_parts<
          const std::remove_cvref_t<decltype(gather::gathered(std::declval<X&>()))>&>(
          std::make_integer_sequence<int, parts>{});
    else
      return first{};
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& x) {
    const auto& gathered = gather::gathered(x);
    return apply_parts(gathered, std::make_integer_sequence<int, parts>{});
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
/// must not be split, or is gathered over permitted axes.
///
///     auto [q, k, v] = split_at<1, 64, 80>(x);      // f32[8@data, 96] -> 64, 16 and 16 columns
///     auto [a, b] = split_at<1, 64>(y, as<P<none, "model">>);
template <int Dim, index_t... Indices, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::split_call<internal::permitted_by<Given>, Dim, 0, Indices..., open_end>, Given, X>
split_at(X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::split_call<internal::permitted_by<Given>, Dim, 0, Indices..., open_end>>(
      given, static_cast<X&&>(x));
}

}  // namespace shardwise
