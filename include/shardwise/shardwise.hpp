// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Everything that programs usually need: layouts on paper, tensors, the device pool that computes
/// them, pictures.

// Paper first, so that the include stacks in errors are short.
// clang-format off
#include "shardwise/core/broken_rule.hpp"
#include "shardwise/paper.hpp"
#include "shardwise/pool.hpp"
#if !defined(SHARDWISE_COMPILED)  // with it, programs include it to define kernels
#include "shardwise/kernel.hpp"
#endif
#include "shardwise/tensor.hpp"
#include "shardwise/process.hpp"
#include "shardwise/engine.hpp"
#include "shardwise/runtime.hpp"
#include "shardwise/host.hpp"
#include "shardwise/draw.hpp"
// clang-format on
