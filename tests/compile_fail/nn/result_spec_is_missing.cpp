// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::result_spec_is_missing
// expect: shardwise::called<5>{"down"}
#include <shardwise/shardwise.hpp>

#include <shardwise/nn.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using dense = nn::linear<tensor<P<none, none>, 8, 16>, tensor<P<none>, 16>>;
using norm = nn::rms_norm<tensor<P<none>, 16>>;
using rules = nn::plan<nn::finish<"down", P<none, none>>>;
using planned = nn::planned<nn::mlp<dense, norm>, rules>;
planned* model;
