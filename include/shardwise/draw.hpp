// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Pictures of which device holds which part, as text; `<shardwise/draw/svg.hpp>` draws them as
/// images.

#include "shardwise/draw/ascii.hpp"
#include "shardwise/draw/before_after.hpp"
#include "shardwise/draw/holders.hpp"
#include "shardwise/draw/parts.hpp"
#include "shardwise/draw/visualize.hpp"
