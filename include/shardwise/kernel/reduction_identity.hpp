// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/spec/reduction.hpp"

#include <limits>

namespace shardwise {

/// Returns the identity of a reduction: 0, 1, or the number below or above all others.
template <class T>
[[nodiscard]] constexpr T identity_of(reduction kind) noexcept {
  using limits = std::numeric_limits<T>;
  switch (kind) {
    case reduction::sum:
      return T{0};
    case reduction::product:
      return T{1};
    case reduction::max:
      return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
    case reduction::min:
      return limits::has_infinity ? limits::infinity() : limits::max();
  }
  return T{0};
}

}  // namespace shardwise
