// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/philox.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace shardwise {

/// A random order of `count` items, of which each place is computed on request: nothing is stored,
/// and the order is the same on every machine.
///
/// It is a swap-or-not shuffle (Hoang, Morris, Rogaway 2012): in each round every item has a
/// partner, and a bit of the counter-based generator tells whether the two change places.
///
///     const index_permutation order(random_key{7}, 60000);
///     order[0];                                     // the item that comes first
class index_permutation {
  static constexpr int most_rounds = 4 * 64 + 8;
  /// The items that are permuted together, which compilers vectorize.
  static constexpr std::size_t lanes = 16;

  [[nodiscard]] static constexpr std::size_t at(int round) noexcept {
    return static_cast<std::size_t>(round);
  }
  template <std::size_t Lanes>
  constexpr void permute(std::array<index_t, Lanes>& items) const noexcept {
    for (int r = 0; r < rounds_; ++r) {
      philox<Lanes> bits{};
      std::array<index_t, Lanes> partners{};
      for (std::size_t i = 0; i < Lanes; ++i) {
        partners[i] = turns_[at(r)] - items[i] + (turns_[at(r)] < items[i] ? count_ : 0);
        const auto pair = static_cast<std::uint64_t>(std::max(items[i], partners[i]));
        bits.words[0][i] = static_cast<std::uint32_t>(pair);
        bits.words[1][i] = static_cast<std::uint32_t>(pair >> 32U);
        bits.words[2][i] = static_cast<std::uint32_t>(r);
        bits.words[3][i] = static_cast<std::uint32_t>(internal::stream::shuffle);
      }
      bits.run(static_cast<std::uint32_t>(key_.value),
               static_cast<std::uint32_t>(key_.value >> 32U));
      for (std::size_t i = 0; i < Lanes; ++i)
        items[i] = bits.words[0][i] % 2 == 0 ? items[i] : partners[i];
    }
  }

 public:
  constexpr index_permutation(random_key key, index_t count) noexcept : key_(key), count_(count) {
    if (count < 2) return;
    rounds_ = 4 * static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))) + 8;
    for (int r = 0; r < rounds_; ++r)
      turns_[at(r)] =
          static_cast<index_t>(key.split(at(r)).value % static_cast<std::uint64_t>(count));
  }

  /// Returns the number of items.
  [[nodiscard]] constexpr index_t size() const noexcept { return count_; }
  /// Returns the item at a place, `0 <= place < size()`.
  [[nodiscard]] constexpr index_t operator[](index_t place) const noexcept {
    std::array<index_t, 1> item{place};
    permute(item);
    return item[0];
  }
  /// Writes the items at the places from `first` on.
  constexpr void items(index_t first, std::span<index_t> to) const noexcept {
    for (std::size_t done = 0; done < to.size();) {
      const std::size_t some = std::min(lanes, to.size() - done);
      std::array<index_t, lanes> part{};
      for (std::size_t i = 0; i < some; ++i) part[i] = first + static_cast<index_t>(done + i);
      permute(part);
      std::copy_n(part.begin(), some, to.begin() + static_cast<std::ptrdiff_t>(done));
      done += some;
    }
  }

 private:
  random_key key_;
  index_t count_ = 0;
  int rounds_ = 0;
  std::array<index_t, most_rounds> turns_{};
};

}  // namespace shardwise
