// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Optimizers, learning-rate schedules and training steps.

// First, so that the include stacks in errors are short.
// clang-format off
#include "shardwise/core/broken_rule.hpp"
// clang-format on
#include "shardwise/optim/accumulate.hpp"
#include "shardwise/optim/adafactor.hpp"
#include "shardwise/optim/adagrad.hpp"
#include "shardwise/optim/adam.hpp"
#include "shardwise/optim/amsgrad.hpp"
#include "shardwise/optim/clip.hpp"
#include "shardwise/optim/groups.hpp"
#include "shardwise/optim/lamb.hpp"
#include "shardwise/optim/lion.hpp"
#include "shardwise/optim/loss_scale.hpp"
#include "shardwise/optim/masters.hpp"
#include "shardwise/optim/nests.hpp"
#include "shardwise/optim/refusals.hpp"
#include "shardwise/optim/rmsprop.hpp"
#include "shardwise/optim/scale_of.hpp"
#include "shardwise/optim/schedule.hpp"
#include "shardwise/optim/sgd.hpp"
#include "shardwise/optim/step_number.hpp"
#include "shardwise/optim/training_step.hpp"
