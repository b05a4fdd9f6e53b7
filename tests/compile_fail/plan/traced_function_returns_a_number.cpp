// SPDX-License-Identifier: BSL-1.0
// expect: a traced function returns a tensor, or several in a tuple
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
constexpr auto count = [](const auto& a) { return a.extents().size(); };
constexpr auto cost = trace(count, abstract<A>());
