// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The processes that share a mesh, and what they exchange.

#include "shardwise/process/host_exchange.hpp"
#include "shardwise/process/host_values.hpp"
#include "shardwise/process/leave.hpp"
#include "shardwise/process/meeting_desk.hpp"
#include "shardwise/process/message_streams.hpp"
#include "shardwise/process/owner_link.hpp"
#include "shardwise/process/owner_share.hpp"
#include "shardwise/process/process_group.hpp"
#include "shardwise/process/run_history.hpp"
#include "shardwise/process/shared_memory.hpp"
#include "shardwise/process/spawn.hpp"
#include "shardwise/process/stop_signals.hpp"
#include "shardwise/process/thread_transport.hpp"
#include "shardwise/process/transport.hpp"
