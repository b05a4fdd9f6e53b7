// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What runs: the device pool, lazy expressions, and programs.

#include "shardwise/runtime/agreement.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/runtime/custom_gradient.hpp"
#include "shardwise/runtime/device_pool.hpp"
#include "shardwise/runtime/explain.hpp"
#include "shardwise/runtime/fused_nodes.hpp"
#include "shardwise/runtime/gradient.hpp"
#include "shardwise/runtime/lazy.hpp"
#include "shardwise/runtime/lazy_domain.hpp"
#include "shardwise/runtime/make_nodes.hpp"
#include "shardwise/runtime/number_operand.hpp"
#include "shardwise/runtime/owner_link.hpp"
#include "shardwise/runtime/pending_list.hpp"
#include "shardwise/runtime/recompute.hpp"
#include "shardwise/runtime/replay.hpp"
#include "shardwise/runtime/run_program.hpp"
#include "shardwise/runtime/shards_of_all.hpp"
#include "shardwise/runtime/step.hpp"
#include "shardwise/runtime/sync.hpp"
#include "shardwise/runtime/transport.hpp"
#include "shardwise/runtime/tree_description.hpp"
#include "shardwise/runtime/use_mesh.hpp"
#include "shardwise/runtime/value_nodes.hpp"
#include "shardwise/runtime/vjp.hpp"

// The engine, which the compiled library has.
#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/argument_node.hpp"
#include "shardwise/runtime/collective_node.hpp"
#include "shardwise/runtime/collective_run.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/custom_gradients.hpp"
#include "shardwise/runtime/described_pass.hpp"
#include "shardwise/runtime/each_node.hpp"
#include "shardwise/runtime/fill_node.hpp"
#include "shardwise/runtime/lower.hpp"
#include "shardwise/runtime/read_part.hpp"
#include "shardwise/runtime/recorded_graph.hpp"
#include "shardwise/runtime/result_node.hpp"
#include "shardwise/runtime/splice.hpp"
#include "shardwise/runtime/step_run.hpp"
#include "shardwise/runtime/whole_node.hpp"
#endif
