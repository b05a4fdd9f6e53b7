// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/expression/operation.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE factor_sizes known_sizes_now(const mesh_desc& mesh, const factor_rule& rule,
                                              const tensor_descs& operands,
                                              const known_operands& extents) {
  return meet_sizes(mesh, rule, operands, extents);
}

}  // namespace shardwise::detail
