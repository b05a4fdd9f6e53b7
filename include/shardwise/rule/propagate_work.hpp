// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/rule/propagate.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE propagation propagate_now(const mesh_desc& mesh, const factor_rule& rule,
                                           const tensor_descs& operands) noexcept {
  return propagate_rule(mesh, rule, operands);
}

}  // namespace shardwise::detail
