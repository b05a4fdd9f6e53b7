// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Arrays of other libraries.

// First, so that the include stacks in errors are short.
// clang-format off
#include "shardwise/core/broken_rule.hpp"
// clang-format on
#include "shardwise/interop/array_view.hpp"
#include "shardwise/interop/dlpack.hpp"
#include "shardwise/interop/dlpack_types.hpp"
#include "shardwise/interop/mdspan.hpp"
#include "shardwise/interop/strided_span.hpp"
#include "shardwise/interop/tensor_arrays.hpp"
