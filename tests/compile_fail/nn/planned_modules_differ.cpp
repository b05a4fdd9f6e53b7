// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::planned_layouts_differ,
// expect: shardwise::of_types<>, shardwise::called<2>{"0"}, shardwise::called<2>{"1"}
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct whole : layout<pod, P<none, none>> {};
using W = sharded_tensor<float, extents<8, 16>, whole>;
struct rules : nn::plan<nn::finish<"1", P<none, none>>> {};
using model = nn::planned<std::array<nn::linear<W>, 2>, rules>;
