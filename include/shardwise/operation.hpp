// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The operations, a family a file: what each is on paper, and the functions that users call.

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/assign.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/concatenate.hpp"
#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/flip.hpp"
#include "shardwise/operation/fold.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/max_with_index.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/operation/stop_gradient.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/operation/transpose.hpp"
