// SPDX-License-Identifier: BSL-1.0
// expect: broken_rule<shardwise::violation::extent_is_not_divisible, shardwise::of_types<>,
// expect: shardwise::actual_extent{6}, shardwise::equal_parts{4}
// expect: shardwise::called<3>{"up"}
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct whole : layout<pod, P<none, none>> {};
using W = sharded_tensor<float, extents<8, 16>, whole>;
template <class Up, class Down>
struct net {
  Up up;
  Down down;
};
using V = sharded_tensor<float, extents<8, 6>, whole>;
struct rules : nn::plan<nn::column_wise<"*", "model">> {};
using model = nn::planned<net<V, W>, rules>;
