// SPDX-License-Identifier: BSL-1.0
// Both calls that help are named: the scale would be gathered over the permitted axis.
// expect: shardwise::broken_rule<shardwise::violation::axis_would_split_twice,
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<6>{"model"}
// expect: {"reshard<P<none>>(operand 1)"}, shardwise::or_across<6>{"model"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"model", none>> {};
struct split : layout<pod, P<"model">> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using V = sharded_tensor<float, extents<4>, split>;
void use(const X& x, const V& scale) { std::cout << to_host(rms_norm<-1>(x, scale, 1e-5)); }
