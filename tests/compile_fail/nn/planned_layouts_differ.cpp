// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::planned_layouts_differ
// expect: shardwise::called<9>{"0.weight"}
// expect: shardwise::called<9>{"1.weight"}
#include <shardwise/shardwise.hpp>

#include <shardwise/nn.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using dense = nn::linear<tensor<P<none, none>, 8, 16>, tensor<P<none>, 16>>;
using rules = nn::plan<nn::column_wise<"0", "model">>;
using planned = nn::planned<std::array<dense, 2>, rules>;
planned* model;
