// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"

#include <cstdio>
#include <cstdlib>

namespace shardwise::detail {

SHARDWISE_INLINE void element_is_missing() noexcept {
  std::fputs("shardwise: the element of a sequence that is used is not there\n", stderr);
  std::abort();
}

}  // namespace shardwise::detail
