// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/plan/step.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE std::int32_t form_steps_now(const program_view& program, cluster_note* notes,
                                             std::int32_t* step_of, step_desc* steps, bool labels) {
  return form_steps_of(program, notes, step_of, steps, labels);
}

}  // namespace shardwise::detail
