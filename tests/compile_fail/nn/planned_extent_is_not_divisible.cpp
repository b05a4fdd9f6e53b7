// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::broken::extent_is_not_divisible
// expect: shardwise::called<7>{"weight"}
#include <shardwise/shardwise.hpp>

#include <shardwise/nn.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using dense = nn::linear<tensor<P<none, none>, 8, 16>, tensor<P<none>, 16>>;
using table = tensor<P<none, none>, 8, 6>;
using rules = nn::plan<nn::column_wise<"*", "model">>;
using planned = nn::planned<nn::linear<table>, rules>;
planned* model;
