// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Threads: the cores of this machine, and the tasks that they run.

#include "shardwise/pool/cores.hpp"
#include "shardwise/pool/phase_gate.hpp"
#include "shardwise/pool/spin.hpp"
#include "shardwise/pool/task_ranges.hpp"
#include "shardwise/pool/worker_team.hpp"
