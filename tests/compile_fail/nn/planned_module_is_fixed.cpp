// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::broken::planned_layout_is_fixed
// expect: shardwise::called<3>{"up"}
#include <shardwise/shardwise.hpp>

#include <shardwise/nn.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using dense = nn::linear<tensor<P<none, none>, 8, 16>, tensor<P<none>, 16>>;
template <class W, class B>
struct net {
  nn::linear<W, B> up;
};
using rules = nn::plan<nn::finish<"up", P<none, none>>>;
using planned = nn::planned<net<tensor<P<none, none>, 8, 16>, tensor<P<none>, 16>>, rules>;
planned* model;
