// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_have_no_fractions,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::sqrt>, int>>
// expect: random numbers, roots, exponentials, means and gradients need floating-point elements
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using N = sharded_tensor<int, extents<8>, rows>;
auto use(const N& counts) { return to_host(sqrt(counts) + 1); }
