// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::size_count_differs,
// expect: shardwise::of_types<>, shardwise::size_met{0}, shardwise::size_needed{1}>
// expect: abstract<X> takes one size for each dyn extent and each dyn axis of X
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<dyn, 8>, layout<pod, P<"x", none>>>;
constexpr auto a = abstract<A>();
