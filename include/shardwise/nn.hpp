// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Modules: aggregates of tensors with a call operator, their parameters by name, their losses.

#include "shardwise/nn/attention.hpp"
#include "shardwise/nn/attention_cache.hpp"
#include "shardwise/nn/between.hpp"
#include "shardwise/nn/changed_nest.hpp"
#include "shardwise/nn/convolution.hpp"
#include "shardwise/nn/distribute_module.hpp"
#include "shardwise/nn/dropout.hpp"
#include "shardwise/nn/elements.hpp"
#include "shardwise/nn/embedding.hpp"
#include "shardwise/nn/frozen.hpp"
#include "shardwise/nn/generate.hpp"
#include "shardwise/nn/initialise.hpp"
#include "shardwise/nn/linear.hpp"
#include "shardwise/nn/loss.hpp"
#include "shardwise/nn/make_nest.hpp"
#include "shardwise/nn/mlp.hpp"
#include "shardwise/nn/norm.hpp"
#include "shardwise/nn/on_paper.hpp"
#include "shardwise/nn/parameters.hpp"
#include "shardwise/nn/rotary.hpp"
#include "shardwise/nn/sample.hpp"
#include "shardwise/nn/scan.hpp"
#include "shardwise/nn/spread.hpp"
#include "shardwise/nn/transformer_block.hpp"
