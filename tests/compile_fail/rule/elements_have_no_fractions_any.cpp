// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_have_no_fractions,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::sqrt>, int>>
// expect: random numbers, roots, exponentials, means and gradients need floating-point elements
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<int>& counts) { return to_host(sqrt(counts) + 1); }
