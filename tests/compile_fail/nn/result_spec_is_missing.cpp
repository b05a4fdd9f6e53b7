// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::result_spec_is_missing,
// expect: shardwise::of_types<>, shardwise::called<5>{"down"}
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
struct rules : nn::plan<nn::finish<"down", P<none, none>>> {};
using model = nn::planned<net<W, nn::rms_norm<W>>, rules>;
