// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/plan/append_gradients.hpp"

namespace shardwise::detail {

SHARDWISE_INLINE void differentiate_now(program_builder& code, value_id begin,
                                        list_view<const cotangent_seed> seeds,
                                        list_view<value_id> wanted,
                                        gradient_layout_function layout_of) {
  differentiate(code, begin, seeds, wanted, layout_of);
}

}  // namespace shardwise::detail
