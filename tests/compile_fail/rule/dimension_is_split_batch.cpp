// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::layer_norm_of<0, 2>, shardwise::operand_at{0}, shardwise::dimension_at{0}, shardwise::called<5>{"data"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none, none>> {};
using X = sharded_tensor<float, extents<8, 6, 4>, rows>;
void use(const X& x) { std::cout << to_host(batch_norm(x, 1e-5)); }
