// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Operations as factor rules, and the propagation of layouts that follows from them.

#include "shardwise/rule/batch.hpp"
#include "shardwise/rule/collective.hpp"
#include "shardwise/rule/composite.hpp"
#include "shardwise/rule/einsum.hpp"
#include "shardwise/rule/factor_axes.hpp"
#include "shardwise/rule/factor_rule.hpp"
#include "shardwise/rule/gradient_step.hpp"
#include "shardwise/rule/layout_flow.hpp"
#include "shardwise/rule/linearity.hpp"
#include "shardwise/rule/manual_collective.hpp"
#include "shardwise/rule/operation.hpp"
#include "shardwise/rule/permission.hpp"
#include "shardwise/rule/position_moves.hpp"
#include "shardwise/rule/propagate.hpp"
#include "shardwise/rule/propagation.hpp"
#include "shardwise/rule/reshape.hpp"
#include "shardwise/rule/reshape_factors.hpp"
#include "shardwise/rule/strided_elements.hpp"
#include "shardwise/rule/suggestion.hpp"
