// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/operation.hpp"

namespace shardwise {

/// The sizes of the windows of a pooling, one for each spatial dimension.
template <index_t... Sizes>
struct windows {};
/// The distances between windows, one for each spatial dimension.
template <index_t... Steps>
struct strides {};
/// The numbers of padding elements before and after each spatial dimension: one number for both, or
/// two.
///
///     paddings<1, 1>          // of two dimensions: 1 on every side
///     paddings<1, 0, 1, 0>    // 1 before, none behind
template <index_t... Amounts>
struct paddings {};
/// The distances between the elements of a window, one for each spatial dimension.
template <index_t... Steps>
struct dilations {};
/// The number of groups of channels, each of which has its own weights.
template <index_t Count>
struct feature_groups {};

/// The parameters of the windows of an operation, as stored in its attributes: for each of up to
/// three spatial dimensions the numbers below, followed by the number of groups; the attributes'
/// own number states how many of each kind were given.
struct window_numbers {
  static constexpr int most_dimensions = 3;

  index_t stride = 1;
  index_t low = 0;
  index_t high = 0;
  /// The distance between the elements of a window or, for some operations, its size.
  index_t extent = 1;
  /// The distance between the elements of the operand.
  index_t spacing = 1;
};

namespace internal {

/// Reads and writes the attributes of operations on windows.
class window_attributes {
 public:
  using list = inplace_vector<index_t, 2 * max_rank>;

  /// Returns attributes with the given numbers of each kind, in the order of the spatial
  /// dimensions.
  [[nodiscard]] static constexpr attributes from(const list& strides, const list& paddings,
                                                 const list& extents, index_t groups) noexcept {
    attributes out;
    out.integers = {1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, groups};
    for (int i = 0; i < strides.ssize() && i < most; ++i) out.integers[5 * i] = strides[i];
    for (int i = 0; i < paddings.ssize() && i < 2 * most; ++i)
      out.integers[place_of_padding(i)] = paddings[i];
    for (int i = 0; i < extents.ssize() && i < most; ++i) out.integers[5 * i + 3] = extents[i];
    out.number =
        static_cast<double>(strides.ssize() + 32 * paddings.ssize() + 1024 * extents.ssize());
    return out;
  }
  /// Returns attributes with all numbers of each spatial dimension.
  [[nodiscard]] static constexpr attributes from(
      const inplace_vector<window_numbers, window_numbers::most_dimensions>& all,
      index_t groups) noexcept {
    list strides, paddings, extents;
    for (const window_numbers& one : all) {
      strides.push_back(one.stride);
      paddings.push_back(one.low);
      paddings.push_back(one.high);
      extents.push_back(one.extent);
    }
    attributes out = from(strides, paddings, extents, groups);
    for (int d = 0; d < all.ssize(); ++d) out.integers[5 * d + 4] = all[d].spacing;
    return out;
  }
  /// Returns the numbers of one of the spatial dimensions.
  [[nodiscard]] static constexpr window_numbers at(const attributes& how, int dimensions,
                                                   int d) noexcept {
    const bool is_paired = paddings_given(how) == 2 * dimensions;
    return {how.integers[5 * d], how.integers[place_of_padding(is_paired ? 2 * d : d)],
            how.integers[place_of_padding(is_paired ? 2 * d + 1 : d)], how.integers[5 * d + 3],
            how.integers[5 * d + 4]};
  }
  [[nodiscard]] static constexpr index_t groups(const attributes& how) noexcept {
    return how.integers[15];
  }
  [[nodiscard]] static constexpr index_t strides_given(const attributes& how) noexcept {
    return static_cast<index_t>(how.number) % 32;
  }
  [[nodiscard]] static constexpr index_t paddings_given(const attributes& how) noexcept {
    return static_cast<index_t>(how.number) / 32 % 32;
  }
  [[nodiscard]] static constexpr index_t extents_given(const attributes& how) noexcept {
    return static_cast<index_t>(how.number) / 1024;
  }
  /// Checks that there is one number for each spatial dimension, or none, and that distances and
  /// sizes are at least 1. `lacking` states that sizes have no default.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how, int dimensions,
                                                 bool lacking) noexcept {
    const auto refuse = [](index_t have, index_t want) {
      return diagnosis{.rule = violation::window_does_not_fit, .have = have, .want = want};
    };
    const index_t strides = strides_given(how), paddings = paddings_given(how);
    const index_t extents = extents_given(how);
    if (strides != 0 && strides != dimensions) return refuse(strides, dimensions);
    if (paddings != 0 && paddings != dimensions && paddings != 2 * dimensions)
      return refuse(paddings, dimensions);
    if (extents != dimensions && (lacking || extents != 0)) return refuse(extents, dimensions);
    for (int d = 0; d < dimensions; ++d) {
      const window_numbers one = at(how, dimensions, d);
      for (index_t least : {one.stride, one.extent, one.spacing})
        if (least < 1) return refuse(least, 1);
      // Sums and products of these numbers must not overflow.
      for (index_t number :
           {one.stride, one.extent, one.spacing, one.low, one.high, -one.low, -one.high})
        if (number > largest) return refuse(number, largest);
    }
    return {};
  }

 private:
  static constexpr int most = window_numbers::most_dimensions;
  static constexpr index_t largest = index_t{1} << 30;

  [[nodiscard]] static constexpr int place_of_padding(int i) noexcept {
    return 5 * (i / 2) + 1 + i % 2;
  }
};

}  // namespace internal

namespace detail {

/// The options of an operation on windows, as types.
struct window_options {
  window_attributes::list strides{}, paddings{}, dilations{}, windows{};
  index_t groups = 1;

  template <index_t... N>
  constexpr void take(shardwise::strides<N...>) noexcept {
    strides = {N...};
  }
  template <index_t... N>
  constexpr void take(shardwise::paddings<N...>) noexcept {
    paddings = {N...};
  }
  template <index_t... N>
  constexpr void take(shardwise::dilations<N...>) noexcept {
    dilations = {N...};
  }
  template <index_t... N>
  constexpr void take(shardwise::windows<N...>) noexcept {
    windows = {N...};
  }
  template <index_t N>
  constexpr void take(feature_groups<N>) noexcept {
    groups = N;
  }

  template <class... Option>
  [[nodiscard]] static constexpr window_options of() noexcept {
    window_options all;
    (all.take(Option{}), ...);
    return all;
  }
};

/// The options that an operation on windows accepts.
template <class Option>
inline constexpr bool is_window_option = false;
template <index_t... N>
inline constexpr bool is_window_option<strides<N...>> = sizeof...(N) <= 3;
template <index_t... N>
inline constexpr bool is_window_option<paddings<N...>> = sizeof...(N) <= 6;
template <index_t... N>
inline constexpr bool is_window_option<dilations<N...>> = sizeof...(N) <= 3;
template <index_t N>
inline constexpr bool is_window_option<feature_groups<N>> = true;

template <class Option>
concept ConvolutionOption = is_window_option<Option>;

}  // namespace detail
}  // namespace shardwise
