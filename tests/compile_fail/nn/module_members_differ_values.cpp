// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::module_members_differ,
// expect: shardwise::any_tensor<float>>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct rows : layout<pod, P<"x", none>> {};
template <class T>
struct net {
  T w;
};
using split = net<sharded_tensor<float, extents<4, 4>, rows>>;
auto f(const net<any_tensor<float>>& m) { return nn::distribute_module<split>(m); }
