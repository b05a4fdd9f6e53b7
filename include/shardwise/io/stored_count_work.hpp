// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"

#include <optional>
#include <vector>

namespace shardwise::detail {

/// Returns the number of elements of a shape of any rank, or nothing if it is above 2^56.
[[nodiscard]] inline std::optional<index_t> stored_count(const std::vector<index_t>& sizes) {
  index_t all = 1;
  bool empty = false;
  for (const index_t n : sizes) {
    if (n > max_elements / all) return std::nullopt;
    if (n > 0) all *= n;
    empty = empty || n == 0;
  }
  return empty ? 0 : all;
}

}  // namespace shardwise::detail
