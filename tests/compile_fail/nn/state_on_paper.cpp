// SPDX-License-Identifier: BSL-1.0
// expect: = delete;  // for_each_parameter(nest, f)
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using W = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;
using B = sharded_tensor<float, extents<4>, layout<pod, P<none>>>;

void use(on_paper<nn::linear<W, B>>& model) { (void)state_dict(model); }
