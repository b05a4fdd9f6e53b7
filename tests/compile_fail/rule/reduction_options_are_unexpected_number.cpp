// SPDX-License-Identifier: BSL-1.0
// Probably maximum(x, 0) was meant, never the maximum over dimension 0.
// expect: shardwise::broken_rule<shardwise::misuse::reduction_options_are_unexpected,
// expect: shardwise::of_types<shardwise::reduction_of<shardwise::reduction::max, 0, false>, int>>
// expect: , int>
// expect: a reduction is sum<0>(x), sum<0>(x, keep_dims) or, of an any_tensor, sum(x, over{0}); two tensors meet in maximum(x, y)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<float>& x) { return max(x, 0); }
