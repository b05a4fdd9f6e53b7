// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/view_kernel.hpp"
#include "shardwise/operation/propagation_barrier.hpp"

namespace shardwise {

/// A copy, for a result that has a name.
template <>
struct kernel_of<propagation_barrier_operation>
    : detail::view_kernel<propagation_barrier_operation> {};

}  // namespace shardwise
