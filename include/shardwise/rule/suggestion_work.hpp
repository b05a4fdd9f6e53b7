// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/rule/suggestion.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE message_text advice_now(const mesh_desc& mesh, const factor_rule& rule,
                                         const tensor_descs& operands, const diagnosis& verdict,
                                         across_permission call) noexcept {
  return write_advice(mesh, rule, operands, verdict, call);
}

}  // namespace shardwise::detail
