// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::broken::planned_layout_is_fixed
// expect: shardwise::called<16>{"layer.up.weight"}
#include <shardwise/shardwise.hpp>

#include <shardwise/nn.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using dense = nn::linear<tensor<P<none, none>, 8, 16>, tensor<P<none>, 16>>;
struct layer {
  dense up;
};
template <class Head>
struct net {
  layer layer;
  Head head;
};
using rules = nn::plan<nn::column_wise<"*.up", "model">>;
using planned = nn::planned<net<dense>, rules>;
planned* model;
