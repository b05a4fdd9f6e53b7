// SPDX-License-Identifier: BSL-1.0
// The other file: what it includes is defined twice in the program, and linked once.
#include <shardwise/paper.hpp>

struct ring : shardwise::mesh<shardwise::axis<"x", 8>> {};
static_assert(ring::devices == 8);

int devices_elsewhere();
int devices_elsewhere() { return static_cast<int>(ring::devices); }
