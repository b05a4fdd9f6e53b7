// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Tensors: memory, shards, and the handles that programs hold.

#include "shardwise/tensor/any_tensor.hpp"
#include "shardwise/tensor/arena.hpp"
#include "shardwise/tensor/block_bounds.hpp"
#include "shardwise/tensor/buffer.hpp"
#include "shardwise/tensor/device_memory.hpp"
#include "shardwise/tensor/memory_source.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/on_devices.hpp"
#include "shardwise/tensor/out_of_memory.hpp"
#include "shardwise/tensor/random.hpp"
#include "shardwise/tensor/shard_table.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"
#include "shardwise/tensor/shown_as.hpp"
#include "shardwise/tensor/system_memory.hpp"
