// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::module_members_differ, shardwise::of_types<wide, narrow>>
// expect: a module is distributed to one of the same members, whose layouts differ; tensors with run-time layouts follow a plan
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct whole : layout<pod, P<none, none>> {};
using W = sharded_tensor<float, extents<4, 4>, whole>;
struct narrow {
  W up;
};
struct wide {
  W up, down;
};
auto f(const narrow& m) { return nn::distribute_module<wide>(m); }
