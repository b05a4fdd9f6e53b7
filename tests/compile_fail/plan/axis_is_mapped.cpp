// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_mapped,
// expect: an axis that splits the dimension of a vmap splits nothing else inside of the function
#include <shardwise/paper.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 16>, rows>;

constexpr auto split = [](const auto& x) { return reshard<P<"data">>(x); };
constexpr auto mapped = vmap(split);
auto y = mapped(abstract<X>());
