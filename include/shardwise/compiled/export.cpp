// SPDX-License-Identifier: BSL-1.0
// Programs as the text of other tools: no program that exports nothing contains it.
#define SHARDWISE_ENGINE
#include "shardwise/export/lowering_table_work.hpp"
#include "shardwise/export/stablehlo_work.hpp"
#include "shardwise/runtime/get_stablehlo_work.hpp"
