// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_are_no_integers,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::bitwise_and>, float>>
// expect: bitwise operations and shifts need integers: cast<std::int32_t>(x) converts numbers
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using N = sharded_tensor<float, extents<8>, rows>;
auto use(const N& x) { return to_host(bitwise_and(x, 255) + 1); }
