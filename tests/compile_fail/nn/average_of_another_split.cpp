// SPDX-License-Identifier: BSL-1.0
// An average is not gathered: it is split where the model is.
// expect: shardwise::broken_rule<shardwise::violation::tensor_type_differs,
// expect: f32[8, 4]
// expect: f32[8@data, 4]
// longest-line: 1000
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using W = nn::linear<nn::whole<float, pod, 8, 4>>;
using V = nn::linear<sharded_tensor<float, extents<8, 4>, rows>>;
void use(W& average, const V& model) { nn::move_towards(average, model, 0.1F); }
