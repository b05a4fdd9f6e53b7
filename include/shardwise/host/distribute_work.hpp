// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/host/distribute.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

namespace shardwise::internal {

SHARDWISE_INLINE void copy_any_part(const const_any_block& host, const held_box& part,
                                    const any_block& block, const element_kernels& elements) {
  for_each_shared_block(
      whole_of(host.extents), host, part, block,
      [&](const const_any_block& from, const any_block& to) { elements.copy(from, to); });
}

}  // namespace shardwise::internal
