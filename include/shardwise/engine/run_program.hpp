// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/tensor/node.hpp"

#include <span>

namespace shardwise {

/// Runs the program of these nodes, which the caller holds: everything pending that they depend on,
/// in the order of `schedule`. All must be on one machine; only one program runs on a machine at a
/// time.
void run_program(std::span<tensor_node* const> roots);

/// Runs the program of everything pending on a machine that is still held.
void run_pending(pool_state& home);

/// Fails if a handle holds a pending value that depends on one of these arguments of a recorded
/// function: the function has changed a tensor that it captures, which its program would not.
void require_unchanged_captures(std::span<const node_ptr> arguments);

/// Returns what that would cost, without running it.
[[nodiscard]] cost_ledger ledger_of_pending(pool_state& home);

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/engine/definitions.hpp"
#endif
