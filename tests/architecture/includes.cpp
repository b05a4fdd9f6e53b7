// SPDX-License-Identifier: BSL-1.0
// Includes the whole library without using it: no code is emitted.
#include <shardwise/shardwise.hpp>
