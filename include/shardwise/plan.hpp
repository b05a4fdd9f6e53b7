// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Programs as values: redistributions, traces, lifetimes, ledgers.

#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/collective.hpp"
#include "shardwise/plan/explain.hpp"
#include "shardwise/plan/lifetime.hpp"
#include "shardwise/plan/program.hpp"
#include "shardwise/plan/recorder.hpp"
#include "shardwise/plan/redistribute.hpp"
#include "shardwise/plan/step.hpp"
#include "shardwise/plan/trace.hpp"
