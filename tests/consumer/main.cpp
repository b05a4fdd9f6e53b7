// SPDX-License-Identifier: BSL-1.0
// One of two files of a program that include the same header.
#include <shardwise/paper.hpp>

struct pod : shardwise::mesh<shardwise::axis<"data", 2>, shardwise::axis<"model", 4>> {};
static_assert(pod::devices == 8);

int devices_elsewhere();

int main() { return devices_elsewhere() == static_cast<int>(pod::devices) ? 0 : 1; }
