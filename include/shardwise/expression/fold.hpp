// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/expression/over.hpp"

namespace shardwise {

namespace detail {

/// The dimensions that a fold names as types do; none named means all.
template <int... Dims>
[[nodiscard]] constexpr over named_dims(int rank) noexcept {
  if constexpr (sizeof...(Dims) == 0)
    return over::all(rank);
  else
    return over(Dims...);
}

template <reduction Kind, bool Keep, int... Dims, NamedOperand X>
[[nodiscard]] constexpr decltype(auto) fold_over(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else if constexpr (!EitherOperand<X>) {
    return given<refused<no_tensor<fold_of<Kind, 0>, 0, X>>>::value();
  } else if constexpr (ValueOperand<X>) {
    return std::remove_cvref_t<X>::value_domain::fold(
        Kind, x, named_dims<Dims...>(x.extents().ssize()), Keep);
  } else {
    using paper = paper_of<X>;
    constexpr int rank = paper::extents_type::rank;
    constexpr over dims = named_dims<Dims...>(rank);
    constexpr diagnosis verdict = dims.judge(rank);
    if constexpr (!verdict.ok()) {
      return given<refused<dimension_is_out_of_range<dimension<int{verdict.have}>, rank>>>::value();
    } else {
      using operation = fold_of<Kind, dims.bits(), Keep>;
      if constexpr (!is_legal<operation, paper>) {
        return given<decltype(judge<operation, paper>())>::value();
      } else {
        using result = result_of<operation, paper>;
        const extents_desc& extents = known_extents<result>(x.mesh(), {&x.extents()});
        return std::remove_cvref_t<X>::domain::template apply<operation, paper_from<result>>(
            extents, std::forward<X>(x));
      }
    }
  }
}

/// What the sum of that many elements is divided by for their mean.
template <class X>
[[nodiscard]] constexpr auto mean_divisor(const X& x, const over& dims) noexcept {
  return static_cast<typename X::value_type>(dims.count(x.extents()));
}

}  // namespace detail

/// Asks a fold to keep the folded dimensions with one element each, so that the result meets its
/// operand again: `exp(x) / sum<1>(exp(x), keep_dims)`.
struct keep_dims_t {};
inline constexpr keep_dims_t keep_dims{};

/// What a fold may be given beside its operand: `keep_dims`, and before it, where the layout is a
/// value, the dimensions.
template <class Option, class X>
concept FoldOption = std::same_as<Option, keep_dims_t> ||
    (std::same_as<Option, over>&& ValueOperand<X>);

namespace detail {

template <reduction Kind, int... Dims, class X, std::same_as<keep_dims_t>... Keep>
[[nodiscard]] constexpr decltype(auto) fold(X&& x, Keep...) {
  return fold_over<Kind, (sizeof...(Keep) > 0), Dims...>(std::forward<X>(x));
}
template <reduction Kind, class X, std::same_as<keep_dims_t>... Keep>
[[nodiscard]] auto fold(const X& x, const over& dims, Keep...) {
  return X::value_domain::fold(Kind, x, dims, sizeof...(Keep) > 0);
}

/// The dimensions that a fold of `x` is asked for.
template <int... Dims, class X, std::same_as<keep_dims_t>... Keep>
[[nodiscard]] constexpr over dims_of(const X& x, Keep...) noexcept {
  return named_dims<Dims...>(x.extents().ssize());
}
template <int... Dims, class X, std::same_as<keep_dims_t>... Keep>
[[nodiscard]] constexpr over dims_of(const X&, const over& dims, Keep...) noexcept {
  return dims;
}

}  // namespace detail

/// Sums over the named dimensions, or over all. A split dimension leaves the result pending.
///
///     auto rows = sum<1>(x);                 // f32[512@data, 64] -> f32[512@data]
///     auto kept = sum<1>(x, keep_dims);      // f32[512@data, 1]
///     auto all  = sum(x);                    // f32[]{partial sum: data}
///
/// Of a tensor whose layout is a value the dimensions may be values, in each of these folds:
///
///     auto rows = sum(any, over{1});         // or sum(any, over(numbers), keep_dims)
template <int... Dims, NamedOperand X, FoldOption<X>... Options>
[[nodiscard]] constexpr decltype(auto) sum(X&& x, const Options&... options) {
  return detail::fold<reduction::sum, Dims...>(std::forward<X>(x), options...);
}
/// Multiplies over the named dimensions, or over all.
template <int... Dims, NamedOperand X, FoldOption<X>... Options>
[[nodiscard]] constexpr decltype(auto) product(X&& x, const Options&... options) {
  return detail::fold<reduction::product, Dims...>(std::forward<X>(x), options...);
}
/// The maximum over the named dimensions, or over all; the lowest value where there is no element.
template <int... Dims, NamedOperand X, FoldOption<X>... Options>
[[nodiscard]] constexpr decltype(auto) max(X&& x, const Options&... options) {
  return detail::fold<reduction::max, Dims...>(std::forward<X>(x), options...);
}
/// The minimum over the named dimensions, or over all; the highest value where there is no element.
template <int... Dims, NamedOperand X, FoldOption<X>... Options>
[[nodiscard]] constexpr decltype(auto) min(X&& x, const Options&... options) {
  return detail::fold<reduction::min, Dims...>(std::forward<X>(x), options...);
}
/// What `mean` is called in errors.
struct mean_of;

/// The mean over the named dimensions, or over all: the sum divided by the global count, so uneven
/// shards weigh what they hold. Over no elements it is not a number.
template <int... Dims, NamedOperand X, FoldOption<X>... Options>
[[nodiscard]] constexpr decltype(auto) mean(X&& x, const Options&... options) {
  if constexpr (AnyRefused<X> || !EitherOperand<X>) {
    return sum<Dims...>(std::forward<X>(x), options...);
  } else if constexpr (std::is_integral_v<typename std::remove_cvref_t<X>::value_type>) {
    return detail::given<refused<
        elements_have_no_fractions<mean_of, typename std::remove_cvref_t<X>::value_type>>>::value();
  } else {
    const auto divisor = detail::mean_divisor(x, detail::dims_of<Dims...>(x, options...));
    return sum<Dims...>(std::forward<X>(x), options...) / divisor;
  }
}

}  // namespace shardwise
