// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_call.hpp"

namespace shardwise::detail {

/// Calls `on_run(position, local, n)` for each run of `n` elements of a device's part of a tensor
/// whose row-major positions in the whole tensor are consecutive, in row-major order; `local` is
/// the index of the first. `sizes` are the extents of the whole tensor.
template <class OnRun>
void for_each_position_run(const held_box& part, const extents_desc& sizes, const OnRun& on_run) {
  const int last = part.ssize() - 1;
  inplace_vector<index_t, max_rank> local, steps;
  local.resize(part.size());
  steps.resize(part.size());
  index_t step = 1, count = 1;
  for (int d = last; d >= 0; --d) {
    steps[d] = step;
    step *= sizes[d];
    count *= part[d].size();
  }
  for (index_t done = 0; done < count;) {
    index_t position = 0;
    for (int d = 0; d <= last; ++d) position += part[d].global(local[d]) * steps[d];
    // Contiguous elements along the last dimension, or the only element.
    const index_t run = last < 0 ? 1 : part[last].run(local[last]);
    on_run(position, local, run);
    done += run;
    if (last < 0) return;
    local[last] += run;
    for (int d = last; d > 0 && local[d] == part[d].size(); --d) {
      local[d] = 0;
      ++local[d - 1];
    }
  }
}

/// The extents of the whole tensor whose dimensions are these factors of a rule.
[[nodiscard]] inline extents_desc whole_extents(const kernel_call& call, const factor_map& dims) {
  extents_desc sizes;
  for (const std::uint8_t f : dims) sizes.push_back(call.sizes[f]);
  return sizes;
}

}  // namespace shardwise::detail
