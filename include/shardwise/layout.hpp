// SPDX-License-Identifier: BSL-1.0
#pragma once

/// The same as `<shardwise/paper.hpp>`: whoever includes layouts wants to check programs with them.

#include "shardwise/paper.hpp"
