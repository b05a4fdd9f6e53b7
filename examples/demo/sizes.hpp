// SPDX-License-Identifier: BSL-1.0
// The sizes of the demo's model and of its batches.
#pragma once

#include <shardwise/core/index.hpp>

namespace demo {

using shardwise::index_t;

inline constexpr index_t batch = 8, positions = 64, bytes = 256;
inline constexpr index_t width = 128, heads = 8, head_size = 16, hidden = 512;

}  // namespace demo
