// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/view_kernel.hpp"
#include "shardwise/operation/flip_operation.hpp"

namespace shardwise {

/// A copy whose source is traversed backwards along some dimensions.
template <>
struct kernel_of<flip_operation> : detail::view_kernel<flip_operation> {};

}  // namespace shardwise
