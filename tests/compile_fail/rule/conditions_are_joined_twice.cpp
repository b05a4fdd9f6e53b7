// SPDX-License-Identifier: BSL-1.0
// The operators of C++ for one bool; what uses the result causes no further error.
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::of_types<>, shardwise::suggested<18>{"logical_and(a, b)"}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
constexpr auto a = abstract<A>();
constexpr auto inside = where(!((a > 0) && (a < 1)) || (a > 2), a, 0.0F) + a;
