// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/philox.hpp"
#include "shardwise/kernel/index_block.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/position_runs.hpp"
#include "shardwise/operation/dropout.hpp"

#include <bit>
#include <cstdint>

namespace shardwise {

namespace detail {

/// The random words of a key by number, generated 64 at a time.
class dropout_words {
 public:
  explicit dropout_words(std::uint64_t key) noexcept : key_(key) {}

  [[nodiscard]] std::uint32_t operator[](std::uint64_t number) noexcept {
    if (number / 64 != block_) {
      block_ = number / 64;
      words_ = random_words<16>(key_, stream::dropout, block_ * 16);
    }
    return words_.words[number % 4][number % 64 / 4];
  }

 private:
  std::uint64_t key_;
  std::uint64_t block_ = ~std::uint64_t{0};
  philox<16> words_{};
};

}  // namespace detail

/// The word of an element is that of its row-major position in the whole tensor.
template <>
struct kernel_of<dropout_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    using C = compute_type<T>;
    const strided<const T> from = call.operands[0].as<const T>();
    if (from.size() == 0) return;
    const auto given = static_cast<double>(*call.operands[2].as<const C>().data);
    const double rate = given > 0 ? (given < 1 ? given : 1) : 0;
    const auto dropped = static_cast<std::uint64_t>(rate * 0x1p32);
    const auto scale = static_cast<C>(rate < 1 ? 1 / (1 - rate) : 0);
    detail::dropout_words words(
        std::bit_cast<std::uint64_t>(detail::indices_of(call.operands[1])[0]));

    T* to = call.results[0].as<T>().data;
    const index_t stride = from.rank() == 0 ? 1 : from.strides[from.rank() - 1];
    detail::for_each_position_run(
        call.parts[0], detail::whole_extents(call, call.rule.operands[0]),
        [&](index_t position, const auto& local, index_t n) {
          index_t offset = 0;
          for (int d = 0; d < from.rank(); ++d) offset += local[d] * from.strides[d];
          for (index_t x = 0; x < n; ++x) {
            const bool is_kept = words[static_cast<std::uint64_t>(position + x)] >= dropped;
            const T value = from.data[offset + x * stride];
            *to++ = is_kept ? static_cast<T>(static_cast<C>(value) * scale) : T{};
          }
        });
  }
};

}  // namespace shardwise
