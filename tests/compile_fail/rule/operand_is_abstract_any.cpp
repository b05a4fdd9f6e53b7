// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_abstract,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}>
// expect: abstract tensors combine only with abstract tensors and numbers
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
auto use(const any_tensor<float>& x) { return x + abstract<A>(); }
