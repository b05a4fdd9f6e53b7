// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::result_is_not_a_tensor,
// expect: void>
// expect: a traced function returns a tensor, or several in a tuple
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
constexpr auto twice = [](const auto& a) { [[maybe_unused]] auto b = a + a; };
constexpr auto cost = trace(twice, abstract<A>());
