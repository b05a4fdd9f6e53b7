// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::tensor_type_differs,
// expect: own_type<8>{"f32[16]"}
// expect: given_type<13>{"f32[8@x, 16]"}
// expect: a tensor is initialised and assigned by tensors of its own elements, extents and layout
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct rows : layout<pod, P<"x", none>> {};
struct whole : layout<pod, P<none>> {};
using A = sharded_tensor<float, extents<8, 16>, rows>;
using B = sharded_tensor<float, extents<16>, whole>;
void use(B& b, const A& a) { b += a; }
