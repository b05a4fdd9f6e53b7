// SPDX-License-Identifier: BSL-1.0
// Conversions of runs of 16-bit numbers equal those of single numbers, which tests/unit/core
// checks.
#include "shardwise/kernel/narrow_runs.hpp"

#include "support/catch.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

using namespace shardwise;

namespace {

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// Floats of all signs and exponents, each near a number of 16 bits or between two.
std::vector<float> floats() {
  std::vector<float> all;
  for (std::uint32_t i = 0; i < 65536; ++i)
    for (const std::uint32_t low : {0x0000U, 0x0FFFU, 0x1000U, 0x1001U, 0x7FFFU, 0x8000U, 0x8001U})
      all.push_back(std::bit_cast<float>(i << 16U | low));
  return all;
}

template <class T>
void check_values() {
  std::vector<T> narrow;
  for (std::uint32_t i = 0; i < 65536; ++i)
    narrow.push_back(T::from_bits(static_cast<std::uint16_t>(i)));
  std::vector<float> wide(narrow.size());
  widen_run(narrow.data(), 65536, wide.data());
  index_t wrong = 0;
  for (std::size_t i = 0; i < wide.size(); ++i)
    wrong += bits_of(wide[i]) == bits_of(narrow[i]) ? 0 : 1;
  CHECK(wrong == 0);

  const std::vector<float> from = floats();
  const auto n = static_cast<index_t>(from.size());
  narrow.resize(from.size());
  narrow_run(from.data(), n, narrow.data());
  std::vector<float> rounded = from;
  round_run<T>(rounded.data(), n, rounded.data());
  for (std::size_t i = 0; i < from.size(); ++i) {
    wrong += narrow[i].bits() == T(from[i]).bits() ? 0 : 1;
    wrong += bits_of(rounded[i]) == bits_of(T(from[i])) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

/// Runs of every length; nothing before or after them is accessed.
template <class T>
void check_lengths() {
  for (index_t n = 0; n < 140; ++n) {
    const auto count = static_cast<std::size_t>(n);
    // Of exactly this size, so that sanitizers detect accesses beyond the end.
    const auto from = std::make_unique<float[]>(count), back = std::make_unique<float[]>(count),
               rounded = std::make_unique<float[]>(count);
    const auto to = std::make_unique<T[]>(count);
    for (std::size_t i = 0; i < count; ++i) from[i] = 1.01F * static_cast<float>(i) - 20.0F;
    narrow_run(from.get(), n, to.get());
    widen_run(to.get(), n, back.get());
    round_run<T>(from.get(), n, rounded.get());
    index_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i)
      wrong += to[i].bits() == T(from[i]).bits() && back[i] == to[i] && rounded[i] == to[i] ? 0 : 1;
    CAPTURE(n);
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("every number of 16 bits is widened, and floats are rounded, in runs as one by one") {
  check_values<bfloat16>();
  check_values<float16>();
}

TEST_CASE("runs of any length are converted") {
  check_lengths<bfloat16>();
  check_lengths<float16>();
}
