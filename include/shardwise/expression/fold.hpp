// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

namespace shardwise {

namespace detail {

/// True if each of the named dimensions is one of `Rank`.
template <int Rank, int... Dims>
inline constexpr bool in_range = (... && (Dims >= 0 && Dims < Rank));

/// The last of the named dimensions that is not one of `Rank`.
template <int Rank, int... Dims>
inline constexpr int out_of_range = [] {
  int found = -1;
  ((found = Dims < 0 || Dims >= Rank ? Dims : found), ...);
  return found;
}();

/// The bits of the dimensions to fold; none named means all.
template <int Rank, int... Dims>
[[nodiscard]] constexpr unsigned folded_bits() noexcept {
  if constexpr (sizeof...(Dims) == 0)
    return (1U << Rank) - 1U;
  else
    return (0U | ... | (1U << Dims));
}

template <reduction Kind, bool Keep, int... Dims, Operand X>
[[nodiscard]] constexpr auto fold_over(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using paper = paper_of<X>;
    constexpr int rank = paper::extents_type::rank;
    if constexpr (!in_range<rank, Dims...>) {
      using shown [[maybe_unused]] =
          decltype(dimension_is_out_of_range<dimension<out_of_range<rank, Dims...>>, rank>{});
      return refused_value{};
    } else {
      using operation = fold_of<Kind, folded_bits<rank, Dims...>(), Keep>;
      if constexpr (!is_legal<operation, paper>) {
        using shown [[maybe_unused]] =
            decltype(typename decltype(judge<operation, paper>())::type{});
        return refused_value{};
      } else {
        using result = result_of<operation, paper>;
        const extents_desc& extents = result::known_extents(x.mesh(), {&x.extents()});
        return std::remove_cvref_t<X>::domain::template apply<operation, paper_from<result>>(
            extents, std::forward<X>(x));
      }
    }
  }
}

template <bool Keep, int... Dims, Operand X>
[[nodiscard]] constexpr auto mean_over(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using paper = paper_of<X>;
    using value_type = typename paper::value_type;
    static_assert(std::is_floating_point_v<value_type>, "a mean needs a floating type");
    constexpr int rank = paper::extents_type::rank;
    if constexpr (!in_range<rank, Dims...>) {
      return fold_over<reduction::sum, Keep, Dims...>(std::forward<X>(x));
    } else {
      constexpr unsigned bits = folded_bits<rank, Dims...>();
      index_t count = 1;
      const extents_desc extents = x.extents();
      for (int d = 0; d < extents.ssize(); ++d)
        if ((bits >> d & 1U) != 0) count *= extents[d];
      return fold_over<reduction::sum, Keep, Dims...>(std::forward<X>(x)) /
             static_cast<value_type>(count);
    }
  }
}

}  // namespace detail

/// Asks a fold to keep the folded dimensions with one element each, so that the result meets its
/// operand again: `exp(x) / sum<1>(exp(x), keep_dims)`.
struct keep_dims_t {};
inline constexpr keep_dims_t keep_dims{};

/// Sums over the named dimensions, or over all. A split dimension leaves the result pending.
///
///     auto rows = sum<1>(x);                 // f32[512@data, 64] -> f32[512@data]
///     auto kept = sum<1>(x, keep_dims);      // f32[512@data, 1]
///     auto all  = sum(x);                    // f32[]{partial sum: data}
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto sum(X&& x) {
  return detail::fold_over<reduction::sum, false, Dims...>(std::forward<X>(x));
}
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto sum(X&& x, keep_dims_t) {
  return detail::fold_over<reduction::sum, true, Dims...>(std::forward<X>(x));
}
/// Multiplies over the named dimensions, or over all.
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto product(X&& x) {
  return detail::fold_over<reduction::product, false, Dims...>(std::forward<X>(x));
}
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto product(X&& x, keep_dims_t) {
  return detail::fold_over<reduction::product, true, Dims...>(std::forward<X>(x));
}
/// The maximum over the named dimensions, or over all; the lowest value where there is no element.
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto max(X&& x) {
  return detail::fold_over<reduction::max, false, Dims...>(std::forward<X>(x));
}
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto max(X&& x, keep_dims_t) {
  return detail::fold_over<reduction::max, true, Dims...>(std::forward<X>(x));
}
/// The minimum over the named dimensions, or over all; the highest value where there is no element.
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto min(X&& x) {
  return detail::fold_over<reduction::min, false, Dims...>(std::forward<X>(x));
}
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto min(X&& x, keep_dims_t) {
  return detail::fold_over<reduction::min, true, Dims...>(std::forward<X>(x));
}
/// The mean over the named dimensions, or over all: the sum divided by the global count, so uneven
/// shards weigh what they hold. Over no elements it is not a number.
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto mean(X&& x) {
  return detail::mean_over<false, Dims...>(std::forward<X>(x));
}
template <int... Dims, Operand X>
[[nodiscard]] constexpr auto mean(X&& x, keep_dims_t) {
  return detail::mean_over<true, Dims...>(std::forward<X>(x));
}

}  // namespace shardwise
