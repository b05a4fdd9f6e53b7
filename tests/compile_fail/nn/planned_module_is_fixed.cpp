// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::planned_layout_is_fixed,
// expect: shardwise::of_types<>, shardwise::called<3>{"up"}
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct whole : layout<pod, P<none, none>> {};
using W = sharded_tensor<float, extents<8, 16>, whole>;
template <class Weight>
struct net {
  nn::linear<Weight> up;
};
struct rules : nn::plan<nn::finish<"up", P<none, none>>> {};
using model = nn::planned<net<W>, rules>;
