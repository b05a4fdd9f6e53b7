// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Programs as the text of other tools: StableHLO, with the shardings of HLO or of Shardy.

#include "shardwise/export/stablehlo.hpp"
