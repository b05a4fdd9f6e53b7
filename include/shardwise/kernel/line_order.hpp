// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/layout/element.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// Unsigned integers with the order of the elements of `T`.
template <class T>
using order_key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Returns the key of an element, for ascending or descending order. 0 and -0 have the same key;
/// NaN has the last one.
template <class T>
[[nodiscard]] order_key<T> key_of(T x, bool is_descending) noexcept {
  using C = compute_type<T>;
  using key = order_key<T>;
  const C value = x;
  [[maybe_unused]] constexpr key sign = key{1} << (std::numeric_limits<key>::digits - 1);
  [[maybe_unused]] constexpr key last = std::numeric_limits<key>::max();
  key at;
  if constexpr (std::is_floating_point_v<C>) {
    at = std::bit_cast<key>(value + C{0});  // -0 becomes 0
    const auto is_negative =
        static_cast<key>(-static_cast<key>(at >> (std::numeric_limits<key>::digits - 1)));
    at ^= is_negative | sign;
    at = is_descending ? static_cast<key>(~at) : at;
    return value == value ? at : last;
  } else if constexpr (std::is_signed_v<C>) {
    at = static_cast<key>(static_cast<key>(std::int64_t{value}) ^ sign);
  } else {
    at = value;
  }
  return is_descending ? static_cast<key>(~at) : at;
}

/// Sorts the elements of a line; its memory is kept for the next line.
template <class Key>
class line_order {
 public:
  struct entry {
    Key key;
    std::uint32_t at;
  };

  /// Returns the positions of `n` elements in the order of their keys; equal ones in the order of
  /// their positions. Throws `tensor_is_too_large` for 2^32 elements and more.
  template <class KeyOf>
  [[nodiscard]] const internal::growable<entry>& sort(index_t n, const KeyOf& key) {
    require_positions(n);
    read(n, key);
    if (n < few)
      std::stable_sort(entries_.begin(), entries_.end(), before);
    else
      sort_by_digits();
    return entries_;
  }
  /// Returns the `count` largest of `n` elements in descending order, by descending keys.
  template <class ValueOf>
  [[nodiscard]] const internal::growable<entry>& greatest(index_t n, index_t count,
                                                          const ValueOf& value) {
    require_positions(n);
    const auto key = [&](index_t i) { return key_of(value(i), true); };
    const auto wanted = static_cast<std::size_t>(count);
    if (wanted > few_wanted && n / count < 16) {
      static_cast<void>(sort(n, key));
      entries_.resize(wanted);
      return entries_;
    }
    read(count, key);
    std::sort(entries_.begin(), entries_.end(), exactly_before);
    // Candidates, which may be larger than the last of these, are collected behind them until there
    // are enough to select from.
    const std::size_t most = wanted <= few_wanted ? wanted : 2 * wanted + 2 * many;
    std::size_t size = wanted;
    entries_.resize(most + many);
    for (index_t i = count; i < n; i += many) {
      const index_t end = std::min(i + many, n);
      const auto last = value(index_t{entries_[wanted - 1].at});
      if (end - i == many && !is_any_above(i, value, last)) continue;
      const std::size_t collected = size;
      for (index_t j = i; j < end; ++j) {
        entries_[size].at = static_cast<std::uint32_t>(j);
        size += may_be_above(value(j), last) ? 1U : 0U;
      }
      for (std::size_t c = collected; c < size; ++c) entries_[c].key = key(index_t{entries_[c].at});
      if (size > most) select(wanted, std::exchange(size, wanted));
    }
    select(wanted, size);
    entries_.resize(wanted);
    if (wanted > few_wanted) std::sort(entries_.begin(), entries_.end(), exactly_before);
    return entries_;
  }

 private:
  /// As many values as are compared at once.
  static constexpr index_t many = 64;
  static constexpr index_t few = 512;
  /// So few of the largest elements are kept in order; of more, only the last is known.
  static constexpr std::size_t few_wanted = 32;
  static constexpr int digit_bits = 11;
  static constexpr int digits = (std::numeric_limits<Key>::digits + digit_bits - 1) / digit_bits;
  static constexpr std::size_t values = std::size_t{1} << digit_bits;

  [[nodiscard]] static bool before(const entry& a, const entry& b) noexcept {
    return a.key < b.key;
  }
  [[nodiscard]] static bool exactly_before(const entry& a, const entry& b) noexcept {
    return a.key < b.key || (a.key == b.key && a.at < b.at);
  }
  /// Moves those of `size` entries that come first to the front, the last of them at its place.
  void select(std::size_t wanted, std::size_t size) {
    const auto begin = entries_.begin();
    if (wanted > few_wanted) {
      std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(wanted - 1),
                       begin + static_cast<std::ptrdiff_t>(size), exactly_before);
      return;
    }
    for (std::size_t i = wanted; i < size; ++i) {
      const entry next = entries_[i];
      if (next.key >= entries_[wanted - 1].key) continue;
      std::size_t to = wanted - 1;
      for (; to > 0 && entries_[to - 1].key > next.key; --to) entries_[to] = entries_[to - 1];
      entries_[to] = next;
    }
  }
  /// Returns false for most values: those that the limit equals or exceeds. NaN, on either side, is
  /// left to the keys.
  template <class T>
  [[nodiscard]] static bool may_be_above(const T& value, const T& limit) noexcept {
    return !(value <= limit);
  }
  /// Returns true if any of the next values may be larger; without branches, so that compilers
  /// vectorise it.
  template <class ValueOf, class T>
  [[nodiscard]] static bool is_any_above(index_t begin, const ValueOf& value, const T& limit) {
    int found = 0;
    for (index_t i = 0; i < many; ++i) found |= may_be_above(value(begin + i), limit) ? 1 : 0;
    return found != 0;
  }
  /// Refuses lines whose positions do not fit an entry.
  static void require_positions(index_t n) {
    if (n > index_t{std::numeric_limits<std::uint32_t>::max()})
      fail({.rule = violation::tensor_is_too_large, .have = n});
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

  /// Sorts by one digit after another from the last, each stably.
  void sort_by_digits() {
    counts_.assign(values * digits, 0);
    for (const entry& x : entries_)
      for (int d = 0; d < digits; ++d)
        ++counts_[static_cast<std::size_t>(d) * values + digit(x.key, d)];
    other_.resize(entries_.size());
    for (int d = 0; d < digits; ++d) {
      std::size_t* const at = counts_.data() + static_cast<std::size_t>(d) * values;
      // A digit that all keys share does not change the order.
      if (at[digit(entries_.front().key, d)] == entries_.size()) continue;
      std::size_t begin = 0;
      for (std::size_t v = 0; v < values; ++v) begin += std::exchange(at[v], begin);
      for (const entry& x : entries_) other_[at[digit(x.key, d)]++] = x;
      entries_.swap(other_);
    }
  }

  internal::growable<entry> entries_;
  internal::growable<entry> other_;
  internal::growable<std::size_t> counts_;
};

}  // namespace shardwise::detail
