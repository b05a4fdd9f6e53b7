// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The engine itself, which programs of headers alone compile and others find in the library. The
/// headers that programs call it through include it at their end.

#include "shardwise/engine/agreement_work.hpp"
#include "shardwise/engine/device_pool_work.hpp"
#include "shardwise/engine/make_nodes_work.hpp"
#include "shardwise/engine/pending_list_work.hpp"
#include "shardwise/engine/run_program_work.hpp"
#include "shardwise/engine/shards_of_all_work.hpp"
#include "shardwise/engine/turn_work.hpp"
