// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/view_kernel.hpp"
#include "shardwise/operation/transpose.hpp"

namespace shardwise {

/// A copy whose source is traversed in the order of the result's dimensions.
template <>
struct kernel_of<transpose_operation> : detail::view_kernel<transpose_operation> {};

}  // namespace shardwise
