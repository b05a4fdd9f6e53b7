// SPDX-License-Identifier: BSL-1.0
// expect: vmap maps a dimension of at least one tensor
#include <shardwise/paper.hpp>

using namespace shardwise;

constexpr auto twice = [](const auto& x) { return x * 2; };
auto f() { return vmap<0>(twice)(2.0F); }
