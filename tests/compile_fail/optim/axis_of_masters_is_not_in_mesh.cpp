// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh, pod
// expect: called<6>{"batch"}>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct whole : layout<pod, P<none, none>> {};
template <class W>
struct parameters {
  W w;
};
using model = parameters<sharded_tensor<bfloat16, extents<4, 4>, whole>>;
auto f(const model& m) { return optim::with_masters<"batch">(optim::adamw{}).start(m); }
