// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Data sets, and loaders that make tensors of their batches.

#include "shardwise/data/block_rows.hpp"
#include "shardwise/data/distribute_batches.hpp"
#include "shardwise/data/file_rows.hpp"
#include "shardwise/data/idx.hpp"
#include "shardwise/data/loader_metadata.hpp"
#include "shardwise/data/prefetch.hpp"
