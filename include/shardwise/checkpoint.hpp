// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The state of a program in folders of files, which any mesh and any number of processes load.

#include "shardwise/checkpoint/checkpoint.hpp"
#include "shardwise/checkpoint/checkpoint_manager.hpp"
#include "shardwise/checkpoint/kept_checkpoints.hpp"
#include "shardwise/checkpoint/save_checkpoint.hpp"
