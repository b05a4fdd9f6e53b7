// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Programs as values: redistributions, traces, lifetimes, ledgers.

#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/call.hpp"
#include "shardwise/plan/cluster.hpp"
#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/plan/differentiate.hpp"
#include "shardwise/plan/dot.hpp"
#include "shardwise/plan/explain.hpp"
#include "shardwise/plan/gradient.hpp"
#include "shardwise/plan/inline_calls.hpp"
#include "shardwise/plan/ledger.hpp"
#include "shardwise/plan/lifetime.hpp"
#include "shardwise/plan/listing.hpp"
#include "shardwise/plan/normal_form.hpp"
#include "shardwise/plan/planned_program.hpp"
#include "shardwise/plan/program.hpp"
#include "shardwise/plan/program_builder.hpp"
#include "shardwise/plan/recompute.hpp"
#include "shardwise/plan/recorded.hpp"
#include "shardwise/plan/redistribute.hpp"
#include "shardwise/plan/schedule.hpp"
#include "shardwise/plan/step.hpp"
#include "shardwise/plan/structure.hpp"
#include "shardwise/plan/trace.hpp"
