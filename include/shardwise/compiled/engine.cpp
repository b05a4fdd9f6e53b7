// SPDX-License-Identifier: BSL-1.0
// Functions that are no templates, and the streams' pictures and programs.
#include "shardwise/draw/visualize_work.hpp"
#include "shardwise/kernel/pass_order_work.hpp"
#include "shardwise/kernel/pass_program_work.hpp"
#include "shardwise/runtime/explain_work.hpp"
