// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Everything on paper: meshes, layouts, rules, expressions on abstract tensors, ledgers. No Eigen,
/// no threads, no allocation: what is needed to check a program at compile time.

// In the order of the folders, so that the include stacks in errors are short.
// clang-format off
#include "shardwise/core/broken_rule.hpp"
#include "shardwise/core.hpp"
#include "shardwise/mesh.hpp"
#include "shardwise/spec.hpp"
#include "shardwise/layout/element.hpp"
#include "shardwise/layout/extents.hpp"
#include "shardwise/layout/gradient.hpp"
#include "shardwise/layout/host_batch.hpp"
#include "shardwise/layout/input_sharding.hpp"
#include "shardwise/layout/join_shards.hpp"
#include "shardwise/layout/key.hpp"
#include "shardwise/layout/layout.hpp"
#include "shardwise/layout/layout_desc.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/logical_axes.hpp"
#include "shardwise/layout/logical_axes_desc.hpp"
#include "shardwise/layout/logical_axes_text.hpp"
#include "shardwise/layout/notation.hpp"
#include "shardwise/layout/shard.hpp"
#include "shardwise/layout/split_further.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/layout/tensor_judge.hpp"
#include "shardwise/rule.hpp"
#include "shardwise/expression.hpp"
#include "shardwise/operation.hpp"
#include "shardwise/plan.hpp"
// clang-format on
