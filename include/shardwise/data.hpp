// SPDX-License-Identifier: BSL-1.0
#pragma once

/// Data sets in files.

#include "shardwise/data/idx.hpp"
