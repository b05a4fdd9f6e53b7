// SPDX-License-Identifier: BSL-1.0
// A member with a default value stands before the tensors of a model that is made from its type.
// expect: shardwise::broken_rule<shardwise::misuse::member_default_is_lost, shardwise::of_types<net>
// expect: in a model that is made from its type, members that are not tensors follow the
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct rows : layout<pod, P<"x", none>> {};
using W = sharded_tensor<float, extents<8, 4>, rows>;
struct net {
  double slope = 0.1;
  W weight;
};
net make(const device_pool& pool) { return nn::initialise<net>(pool, random_key{1}); }
