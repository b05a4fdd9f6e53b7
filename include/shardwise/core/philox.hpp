// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"

#include <cstddef>
#include <cstdint>

namespace shardwise {

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): four random words for each counter and key,
/// without state. `Lanes` counters are processed together so that compilers vectorize the rounds.
template <std::size_t Lanes>
struct philox {
  std::uint32_t words[4][Lanes];

  /// Replaces the counters by their random words. Not inlined: inlining into larger functions keeps
  /// compilers from vectorizing it.
  [[gnu::noinline]] constexpr void run(std::uint32_t key0, std::uint32_t key1) noexcept {
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < Lanes; ++i) {
        const std::uint64_t p = std::uint64_t{0xD2511F53U} * words[0][i];
        const std::uint64_t q = std::uint64_t{0xCD9E8D57U} * words[2][i];
        words[0][i] = static_cast<std::uint32_t>(q >> 32U) ^ words[1][i] ^ key0;
        words[2][i] = static_cast<std::uint32_t>(p >> 32U) ^ words[3][i] ^ key1;
        words[1][i] = static_cast<std::uint32_t>(q);
        words[3][i] = static_cast<std::uint32_t>(p);
      }
      key0 += 0x9E3779B9U;
      key1 += 0xBB67AE85U;
    }
  }
};

namespace internal {
/// What a counter is used for; different uses of one key are independent streams.
enum class stream : std::uint32_t { uniform, normal, fold, split, dropout, shuffle };

/// Returns the random words for the counters first, first + 1, ... of a stream.
template <std::size_t Lanes>
[[nodiscard]] constexpr philox<Lanes> random_words(std::uint64_t key, stream purpose,
                                                   std::uint64_t first) noexcept {
  philox<Lanes> block{};
  for (std::size_t i = 0; i < Lanes; ++i) {
    block.words[0][i] = static_cast<std::uint32_t>(first + i);
    block.words[1][i] = static_cast<std::uint32_t>((first + i) >> 32U);
    block.words[2][i] = 0;
    block.words[3][i] = static_cast<std::uint32_t>(purpose);
  }
  block.run(static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U));
  return block;
}

[[nodiscard]] constexpr std::uint64_t join(std::uint32_t low, std::uint32_t high) noexcept {
  return std::uint64_t{high} << 32U | low;
}
}  // namespace internal

/// The key of a random number generator: equal keys give equal numbers, different keys independent
/// ones.
struct random_key {
  std::uint64_t value = 0;

  /// Returns a new key for item `n`, such as a step, a layer or a file (JAX: `fold_in`).
  [[nodiscard]] constexpr random_key fold_in(std::uint64_t n) const noexcept {
    return derive(internal::stream::fold, n);
  }
  /// Returns the `n`-th of the keys that this one splits into, which are independent of those of
  /// `fold_in`.
  [[nodiscard]] constexpr random_key split(std::uint64_t n) const noexcept {
    return derive(internal::stream::split, n);
  }

  friend constexpr bool operator==(const random_key&, const random_key&) = default;

 private:
  [[nodiscard]] constexpr random_key derive(internal::stream purpose,
                                            std::uint64_t n) const noexcept {
    const auto block = internal::random_words<1>(value, purpose, n);
    return {internal::join(block.words[0][0], block.words[1][0])};
  }
};

}  // namespace shardwise
