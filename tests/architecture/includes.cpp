// SPDX-License-Identifier: BSL-1.0
// All of the library, and no use of it: nothing is emitted.
#include <shardwise/shardwise.hpp>
