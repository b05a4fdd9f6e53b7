// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::tensor_type_differs,
// expect: own_type<12>{"f32[8@data]"}
// expect: given_type<32>{"f32[8@data]{partial sum: model}"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", "model">>>;
using XM = sharded_tensor<float, extents<8, 16>, layout<pod, P<none, "model">>>;
using Y = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;

Y row_sums(const X& x) { return sum<1>(relu(x * 2.0F)); }
