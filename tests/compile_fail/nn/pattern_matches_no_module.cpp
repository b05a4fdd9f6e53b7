// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::broken::pattern_matches_nothing
// expect: shardwise::called<12>{"down.weight"}
#include <shardwise/shardwise.hpp>

#include <shardwise/nn.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using dense = nn::linear<tensor<P<none, none>, 8, 16>, tensor<P<none>, 16>>;
using rules = nn::plan<nn::row_wise<"down.weight", "model", P<none, none>>>;
using planned = nn::planned<nn::mlp<dense, dense>, rules>;
planned* model;
