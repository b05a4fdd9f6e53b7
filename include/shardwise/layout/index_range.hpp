// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

namespace shardwise {

/// The half-open range of indices `begin` to `end` along one dimension.
struct index_range {
  index_t begin = 0;
  index_t end = 0;

  [[nodiscard]] constexpr index_t size() const noexcept { return end - begin; }
  [[nodiscard]] constexpr bool empty() const noexcept { return begin >= end; }
  friend constexpr bool operator==(const index_range&, const index_range&) = default;
};

}  // namespace shardwise
