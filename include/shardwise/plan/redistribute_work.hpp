// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/plan/redistribute.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE redistribution plan_redistribution_now(const mesh_desc& mesh,
                                                        const tensor_desc& tensor,
                                                        const layout_desc& target) noexcept {
  return plan_redistribution(mesh, tensor, target);
}

}  // namespace shardwise::detail
