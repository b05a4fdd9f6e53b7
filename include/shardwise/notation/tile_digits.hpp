// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/tile_assignment.hpp"

namespace shardwise {

/// One digit of a tile's number: it has `size` values, each step adds `stride` to the number of the
/// device, and it belongs to dimension `dim`.
struct tile_digit {
  index_t size = 1;
  index_t stride = 1;
  int dim = 0;

  friend constexpr bool operator==(const tile_digit&, const tile_digit&) = default;
};

/// The digits of a tile's number, major to minor.
using tile_digits = inplace_vector<tile_digit, max_tile_dims>;

/// Returns the digits of an order.
[[nodiscard]] constexpr tile_digits digits_of(const iota_order& order) noexcept {
  tile_digits digits;
  for (std::uint8_t d : order.order)
    if (order.sizes[d] != 1) digits.push_back({order.sizes[d], order.stride(d)});
  return digits;
}

/// Sorts some of the digits by stride, the largest first, which makes the devices ascend.
constexpr void sort_by_stride(tile_digits& digits, int begin, int end) noexcept {
  for (int i = begin + 1; i < end; ++i)
    for (int k = i; k > begin && digits[k - 1].stride < digits[k].stride; --k)
      std::swap(digits[k - 1], digits[k]);
}

/// Returns the canonical order of these digits; its sizes are empty if the strides do not match.
[[nodiscard]] constexpr iota_order order_of(const tile_digits& digits) noexcept {
  tile_digits sorted = digits;
  sort_by_stride(sorted, 0, sorted.ssize());
  iota_order order;
  index_t below = 1;
  for (int i = sorted.ssize() - 1; i >= 0; --i) {
    if (sorted[i].stride != below) return {};
    below *= sorted[i].size;
  }
  for (const tile_digit& digit : sorted) order.sizes.push_back(digit.size);
  for (const tile_digit& digit : digits)
    for (int i = 0; i < sorted.ssize(); ++i)
      if (sorted[i].stride == digit.stride) order.order.push_back(static_cast<std::uint8_t>(i));
  return canonical(order);
}

/// Splits digits so that each lies within one of the dimensions `dims`, and records which. Returns
/// no digits if a digit and a dimension do not overlap by a whole factor.
///
///     // 8 tiles as [4,2]: the order <=[2,4]T(1,0) has digits 4, 2; <=[8] becomes 4, 2 as well
[[nodiscard]] constexpr tile_digits cut_digits(const tile_digits& digits,
                                               const tile_dims& dims) noexcept {
  tile_digits reversed;
  int dim = dims.ssize() - 1;
  index_t left = dim >= 0 ? dims[dim] : 1;
  for (int i = digits.ssize() - 1; i >= 0; --i) {
    tile_digit digit = digits[i];
    while (digit.size > 1) {
      while (left == 1 && dim > 0) left = dims[--dim];
      if (reversed.full() || left == 1) return {};
      const index_t part = digit.size < left ? digit.size : left;
      if (digit.size % part != 0 || left % part != 0) return {};
      reversed.push_back({part, digit.stride, dim});
      digit.size /= part;
      digit.stride *= part;
      left /= part;
    }
  }
  tile_digits result;
  for (int i = reversed.ssize() - 1; i >= 0; --i) result.push_back(reversed[i]);
  return result;
}

/// Returns the canonical order that a list of devices follows; its sizes are empty if there is
/// none.
///
///     // 0 4 1 5 2 6 3 7 is <=[2,4]T(1,0); 0 1 3 2 is none
[[nodiscard]] constexpr iota_order find_order(device_view list) noexcept {
  const index_t count = list.size();
  if (count <= 1) return count == 1 && list[0] == 0 ? plain_order(1) : iota_order{};
  tile_digits reversed;
  index_t length = 1;  // of the blocks that are already understood
  while (length < count) {
    const index_t stride = list[length] - list[0];
    index_t size = 1;
    while (size * length < count && list[size * length] - list[0] == size * stride) ++size;
    if (stride < 1 || count % (size * length) != 0 || reversed.full()) return {};
    reversed.push_back({size, stride});
    length *= size;
  }
  tile_digits digits;
  for (int i = reversed.ssize() - 1; i >= 0; --i) digits.push_back(reversed[i]);
  const iota_order order = order_of(digits);
  if (order.sizes.empty()) return {};
  for (index_t i = 0; i < count; ++i)
    if (list[i] != order.at(i)) return {};
  return order;
}

}  // namespace shardwise
