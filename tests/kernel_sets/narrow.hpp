// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "checks.hpp"
#include "shardwise/kernel/narrow_runs.hpp"

/// Runs of 16-bit numbers have the bits of single ones.
namespace kernel_sets {

template <class T>
void check_narrow(const char* name) {
  using namespace shardwise;
  constexpr index_t n = 4096;
  std::vector<float> from(n), wide(n), rounded(n);
  std::vector<T> narrow(n);
  std::uint32_t next = 0;
  // All signs and exponents, and many significands.
  for (int run = 0; run < 1100; ++run) {
    for (float& each : from) each = std::bit_cast<float>(next += 953);
    narrow_run(from.data(), n, narrow.data());
    widen_run(narrow.data(), n, wide.data());
    round_run<T>(from.data(), n, rounded.data());
    for (std::size_t i = 0; i < from.size(); ++i) {
      const T alone(from[i]);
      if (narrow[i].bits() != alone.bits()) fail("narrowed", name, from[i]);
      if (bits(wide[i]) != bits(static_cast<float>(alone))) fail("widened", name, from[i]);
      if (bits(rounded[i]) != bits(wide[i])) fail("rounded", name, from[i]);
    }
  }
}

}  // namespace kernel_sets
