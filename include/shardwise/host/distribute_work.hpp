// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/host/distribute.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

namespace shardwise::internal {

SHARDWISE_INLINE void copy_any_part(const const_any_block& host, const held_box& part,
                                    const any_block& block, const element_kernels& elements) {
  copy_shared(elements, whole_of(host.extents), host, part, block);
}

}  // namespace shardwise::internal
