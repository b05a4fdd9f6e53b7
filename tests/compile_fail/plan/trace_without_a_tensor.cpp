// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::function_takes_other_operands,
// expect: sum_of_two, shardwise::size_met{0}>
// expect: a traced function is const and takes the tensors of trace, one or more, each by
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
struct sum_of_two {
  constexpr auto operator()(const auto& a, const auto& b) const { return a + b; }
};
constexpr auto cost = trace(sum_of_two{});
