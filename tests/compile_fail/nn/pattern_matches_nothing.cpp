// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::pattern_matches_nothing,
// expect: shardwise::of_types<>, shardwise::called<4>{"upp"}
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
struct rules : nn::plan<nn::column_wise<"upp", "model">> {};
using model = nn::planned<net<W, W>, rules>;
