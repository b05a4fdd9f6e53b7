// SPDX-License-Identifier: BSL-1.0
#pragma once

/// How a tensor is split: partition specs, pending reductions, policies.

#include "shardwise/spec/reduction.hpp"
#include "shardwise/spec/spec.hpp"
