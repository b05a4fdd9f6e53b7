// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Everything a program needs: layouts on paper, tensors, the device pool that computes them,
/// pictures.

// Paper first, so that errors are reached by the shortest way.
// clang-format off
#include "shardwise/layout.hpp"
#include "shardwise/pool.hpp"
#if !defined(SHARDWISE_COMPILED)  // then a program includes it where it writes kernels of its own
#include "shardwise/kernel.hpp"
#endif
#include "shardwise/tensor.hpp"
#include "shardwise/runtime.hpp"
#include "shardwise/host.hpp"
#include "shardwise/draw.hpp"
// clang-format on
