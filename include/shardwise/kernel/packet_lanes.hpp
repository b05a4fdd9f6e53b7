// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/pointwise_kernel.hpp"

#include <cstddef>

namespace shardwise::detail {

/// Vectors of the width that the program was compiled for; see `wide_lanes`.
template <class T>
struct packet_lanes {
  using vector = typename vector_of<T>::type;
  static constexpr std::size_t size = sizeof(vector) / sizeof(T);
  static constexpr std::size_t count = 8;

  [[gnu::always_inline]] static void load(const T* from, vector& to) noexcept {
    to = packet::ploadu<vector>(from);
  }
  [[gnu::always_inline]] static void fill(T from, vector& to) noexcept {
    to = packet::pset1<vector>(from);
  }
  /// Keeps a vector that is read often in a register: g++ would load it again each time, and a
  /// vector of 64 bytes usually spans two cache lines.
  [[gnu::always_inline]] static void hold(vector& a) noexcept { a = rounded(a); }
  [[gnu::always_inline]] static void store(const vector& from, T* to) noexcept {
    packet::pstoreu(to, from);
  }
  template <class F>
  [[gnu::always_inline]] static void run(F, vector& a, const vector& b) noexcept {
    a = rounded(kernel<F>::run(a, b));
  }
  template <class F>
  [[gnu::always_inline]] static void run(F, vector& a) noexcept {
    a = rounded(kernel<F>::run(a));
  }
};

}  // namespace shardwise::detail
