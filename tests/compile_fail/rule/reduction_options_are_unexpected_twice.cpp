// SPDX-License-Identifier: BSL-1.0
// Dimensions are template arguments or values, not both.
// expect: shardwise::broken_rule<shardwise::misuse::reduction_options_are_unexpected,
// expect: shardwise::of_types<shardwise::reduction_of<shardwise::reduction::sum, 0, false>, shardwise::over>>
// expect: shardwise::over>
// expect: a reduction is sum<0>(x), sum<0>(x, keep_dims) or, of an any_tensor, sum(x, over{0}); two tensors meet in maximum(x, y)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<float>& x) { return mean<0>(x, over{1}); }
