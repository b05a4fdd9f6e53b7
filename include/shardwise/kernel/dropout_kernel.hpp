// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/philox.hpp"
#include "shardwise/kernel/index_block.hpp"
#include "shardwise/kernel/kernel_call.hpp"
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

    inplace_vector<index_t, max_rank> local, steps;
    local.resize(from.extents.size());
    steps.resize(from.extents.size());
    index_t step = 1;
    for (int d = from.rank() - 1; d >= 0; --d) {
      steps[d] = step;
      step *= call.sizes[call.rule.operands[0][d]];
    }
    T* to = call.results[0].as<T>().data;
    for (index_t i = 0; i < from.size(); ++i) {
      index_t place = 0, offset = 0;
      for (int d = 0; d < from.rank(); ++d) {
        place += call.parts[0][d].global(local[d]) * steps[d];
        offset += local[d] * from.strides[d];
      }
      // Contiguous elements along the last dimension, or the only element.
      const int last = from.rank() - 1;
      const index_t run = last < 0 ? 1 : call.parts[0][last].run(local[last]);
      const index_t stride = last < 0 ? 1 : from.strides[last];
      for (index_t x = 0; x < run; ++x) {
        const bool is_kept = words[static_cast<std::uint64_t>(place + x)] >= dropped;
        const T value = from.data[offset + x * stride];
        *to++ = is_kept ? static_cast<T>(static_cast<C>(value) * scale) : T{};
      }
      i += run - 1;
      if (last >= 0) local[last] += run;
      for (int d = last; d > 0 && local[d] == from.extents[d]; --d) {
        local[d] = 0;
        ++local[d - 1];
      }
    }
  }
};

}  // namespace shardwise
