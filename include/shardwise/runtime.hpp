// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What programs do with tensors that run: operations, gradients, compiled steps.

#include "shardwise/runtime/any_einsum.hpp"
#include "shardwise/runtime/any_manual.hpp"
#include "shardwise/runtime/any_mark.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/runtime/compiled_step.hpp"
#include "shardwise/runtime/custom_gradient.hpp"
#include "shardwise/runtime/explain.hpp"
#include "shardwise/runtime/gradient.hpp"
#include "shardwise/runtime/lazy_domain.hpp"
#include "shardwise/runtime/recompute.hpp"
#include "shardwise/runtime/repeated_operands.hpp"
#include "shardwise/runtime/step.hpp"
#include "shardwise/runtime/sync.hpp"
#include "shardwise/runtime/trace_nan.hpp"
#include "shardwise/runtime/unnamed_result.hpp"
#include "shardwise/runtime/use_mesh.hpp"
#include "shardwise/runtime/value_nodes.hpp"
#include "shardwise/runtime/vjp.hpp"
#include "shardwise/runtime/vmap.hpp"
#include "shardwise/runtime/waiting.hpp"

// Passes that are compiled in the program.
#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/deferred.hpp"
#include "shardwise/runtime/expression_loop.hpp"
#include "shardwise/runtime/lazy.hpp"
#endif
