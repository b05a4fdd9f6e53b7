// SPDX-License-Identifier: BSL-1.0
#pragma once

/// What users write: functions, contractions, folds and reshards over anything with a layout.

#include "shardwise/expression/assign.hpp"
#include "shardwise/expression/einsum.hpp"
#include "shardwise/expression/elementwise.hpp"
#include "shardwise/expression/fold.hpp"
#include "shardwise/expression/functions.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/expression/operation.hpp"
#include "shardwise/expression/over.hpp"
#include "shardwise/expression/refused.hpp"
#include "shardwise/expression/reshard.hpp"
