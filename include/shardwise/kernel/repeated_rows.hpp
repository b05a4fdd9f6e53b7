// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/element_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shardwise::detail {

/// Rows of `row` elements, of which a contiguous range is needed: it begins at element `at` of a
/// row and has `n` elements. Calls would be expensive for short rows.
struct row_span {
  index_t row;
  index_t at;
  index_t n;
};

/// Reads the same row repeatedly, from `start` on, in the type used for arithmetic.
inline void repeat_row(const element_kernels& elements, const std::byte* start,
                       const row_span& want, std::byte* to) {
  const index_t bytes = size_of(elements.type);
  const auto wide = static_cast<std::size_t>(size_of(computed_in(elements.type)));
  const index_t head = std::min(want.row - want.at, want.n);
  const index_t tail = std::min(want.at, want.n - head);
  elements.load(start + want.at * bytes, 1, head, to);
  if (tail > 0) elements.load(start, 1, tail, to + static_cast<std::size_t>(head) * wide);
  const auto all = static_cast<std::size_t>(want.n) * wide;
  for (std::size_t done = static_cast<std::size_t>(head + tail) * wide; done < all; done *= 2)
    std::memcpy(to + done, to, std::min(done, all - done));
}

/// Repeats each value for a row.
template <class Word>
void spread_values(const Word* values, const row_span& want, Word* to) noexcept {
  // One store of a fixed length is faster than a loop; the next rows overwrite the excess.
  constexpr index_t at_once = 16;
  index_t run = std::min(want.row - want.at, want.n);
  for (index_t done = 0; done < want.n; ++values) {
    if (run <= at_once && done + at_once <= want.n)
      std::fill_n(to + done, at_once, *values);
    else
      std::fill_n(to + done, run, *values);
    done += run;
    run = std::min(want.row, want.n - done);
  }
}

/// Reads rows of one repeated element each, `stride` apart from `start` on, in the type used for
/// arithmetic.
template <index_t Longest>
void repeat_elements(const element_kernels& elements, const std::byte* start, index_t stride,
                     const row_span& want, std::byte* to) {
  const index_t wide = size_of(computed_in(elements.type));
  const index_t rows = (want.at + want.n + want.row - 1) / want.row;
  // Rows have at least two elements.
  alignas(64) std::byte values[(Longest / 2 + 2) * sizeof(std::uint64_t)];
  elements.load(start, stride, rows, values);
  const auto spread = [&]<class Word>(Word) {
    spread_values(reinterpret_cast<const Word*>(values), want, reinterpret_cast<Word*>(to));
  };
  if (wide == 8)
    spread(std::uint64_t{});
  else if (wide == 4)
    spread(std::uint32_t{});
  else
    spread(std::uint8_t{});
}

}  // namespace shardwise::detail
