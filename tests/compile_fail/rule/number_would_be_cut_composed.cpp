// SPDX-License-Identifier: BSL-1.0
// Compositions convert numbers as functions of their own do.
// expect: shardwise::broken_rule<shardwise::misuse::number_would_be_cut,
// expect: a number beside tensors is one of their element type
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<std::int32_t, extents<8>, rows>;
auto use(const A& a) { return isclose(a, 1.5); }
