// SPDX-License-Identifier: BSL-1.0
// The mapped function causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
#include <shardwise/paper.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;
using Y = sharded_tensor<float, extents<8, 6>, layout<pod, P<"data", none>>>;

constexpr auto doubled = [](const auto& x) { return x * 2.0F; };
auto y = vmap(doubled)(abstract<X>() + abstract<Y>());
