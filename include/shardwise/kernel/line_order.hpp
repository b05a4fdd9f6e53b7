// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/element.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// Unsigned integers in the order of the elements of `T`.
template <class T>
using order_key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// The key of an element: the least first, or the greatest. Zeros of both signs have one key; NaN
/// have the last.
template <class T>
[[nodiscard]] order_key<T> key_of(T x, bool is_descending) noexcept {
  using C = compute_type<T>;
  using key = order_key<T>;
  const C value = x;
  constexpr key sign = key{1} << (std::numeric_limits<key>::digits - 1);
  constexpr key last = std::numeric_limits<key>::max();
  key at;
  if constexpr (std::is_floating_point_v<C>) {
    if (value != value) return last;
    at = std::bit_cast<key>(value + C{0});  // -0 becomes 0
    at = (at & sign) != 0 ? static_cast<key>(~at) : at | sign;
  } else if constexpr (std::is_signed_v<C>) {
    at = static_cast<key>(static_cast<key>(std::int64_t{value}) ^ sign);
  } else {
    at = value;
  }
  return is_descending ? static_cast<key>(~at) : at;
}

/// Puts the elements of a line in order, all of whose memory is kept for the next line.
template <class Key>
class line_order {
 public:
  struct entry {
    Key key;
    std::uint32_t at;
  };

  /// The places of `n` elements in the order of their keys, equal ones in the order of their
  /// places. Lines have fewer than 2^32 elements.
  template <class KeyOf>
  [[nodiscard]] const std::vector<entry>& sort(index_t n, const KeyOf& key) {
    read(n, key);
    if (n < few)
      std::stable_sort(entries_.begin(), entries_.end(), before);
    else
      sort_by_digits();
    return entries_;
  }
  /// The first `count` of them.
  template <class KeyOf>
  [[nodiscard]] const std::vector<entry>& select(index_t n, index_t count, const KeyOf& key) {
    read(n, key);
    const auto exactly_before = [](const entry& a, const entry& b) {
      return a.key < b.key || (a.key == b.key && a.at < b.at);
    };
    std::partial_sort(entries_.begin(), entries_.begin() + count, entries_.end(), exactly_before);
    return entries_;
  }

 private:
  static constexpr index_t few = 512;
  static constexpr int digit_bits = 11;
  static constexpr int digits = (std::numeric_limits<Key>::digits + digit_bits - 1) / digit_bits;
  static constexpr std::size_t values = std::size_t{1} << digit_bits;

  [[nodiscard]] static bool before(const entry& a, const entry& b) noexcept {
    return a.key < b.key;
  }
  template <class KeyOf>
  void read(index_t n, const KeyOf& key) {
    entries_.resize(static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i)
      entries_[static_cast<std::size_t>(i)] = {key(i), static_cast<std::uint32_t>(i)};
  }
  [[nodiscard]] static std::size_t digit(Key key, int place) noexcept {
    return static_cast<std::size_t>(key >> (place * digit_bits)) & (values - 1);
  }

  /// From the last digit on, each of which leaves the order of equal ones as it is.
  void sort_by_digits() {
    counts_.assign(values * digits, 0);
    for (const entry& x : entries_)
      for (int d = 0; d < digits; ++d)
        ++counts_[static_cast<std::size_t>(d) * values + digit(x.key, d)];
    other_.resize(entries_.size());
    for (int d = 0; d < digits; ++d) {
      std::size_t* const at = counts_.data() + static_cast<std::size_t>(d) * values;
      // A digit that all have alike orders nothing.
      if (at[digit(entries_.front().key, d)] == entries_.size()) continue;
      std::size_t begin = 0;
      for (std::size_t v = 0; v < values; ++v) begin += std::exchange(at[v], begin);
      for (const entry& x : entries_) other_[at[digit(x.key, d)]++] = x;
      entries_.swap(other_);
    }
  }

  std::vector<entry> entries_;
  std::vector<entry> other_;
  std::vector<std::size_t> counts_;
};

}  // namespace shardwise::detail
