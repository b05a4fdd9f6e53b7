// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/view_kernel.hpp"
#include "shardwise/operation/broadcast_to.hpp"

namespace shardwise {

/// A copy whose source does not move along broadcast dimensions.
template <>
struct kernel_of<broadcast_to_operation> : detail::view_kernel<broadcast_to_operation> {};

}  // namespace shardwise
