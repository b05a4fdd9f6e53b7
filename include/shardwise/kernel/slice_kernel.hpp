// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/view_kernel.hpp"
#include "shardwise/operation/slice.hpp"

namespace shardwise {

/// A copy that begins inside the source and traverses it in steps.
template <>
struct kernel_of<slice_operation> : detail::view_kernel<slice_operation> {};

}  // namespace shardwise
