// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/reshape_kernel.hpp"
#include "shardwise/operation/squeeze.hpp"

namespace shardwise {

/// Like a reshape: elements stay in order.
template <>
struct kernel_of<squeeze_operation> : kernel_of<reshape_operation> {};
template <>
struct kernel_of<unsqueeze_operation> : kernel_of<reshape_operation> {};

}  // namespace shardwise
