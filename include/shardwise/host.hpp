// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Data in and out: creating tensors from host data, and reading tensors on the host.

#include "shardwise/host/any_factories.hpp"
#include "shardwise/host/distribute.hpp"
#include "shardwise/host/distribute_from.hpp"
#include "shardwise/host/distribute_when_used.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/host/from_host_batches.hpp"
#include "shardwise/host/from_process_batch.hpp"
#include "shardwise/host/from_shards.hpp"
#include "shardwise/host/host.hpp"
#include "shardwise/host/host_data.hpp"
#include "shardwise/host/host_text.hpp"
#include "shardwise/host/made_from.hpp"
#include "shardwise/host/owner_rows.hpp"
#include "shardwise/host/repeat_list.hpp"
