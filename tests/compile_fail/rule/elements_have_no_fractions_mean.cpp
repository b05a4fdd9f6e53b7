// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_have_no_fractions,
// expect: shardwise::of_types<shardwise::mean_of, int>>
// expect: random numbers, roots, exponentials, means and gradients need floating-point elements
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<std::int32_t, extents<8, 16>, layout<pod, P<"x", "y">>>;
constexpr auto average = mean<1>(abstract<X>(), keep_dims);
