// SPDX-License-Identifier: BSL-1.0
// longest: 600
// expect: shardwise::assignment_changes_tensor<shardwise::fixed_string<8>{"f32[16]"},
// expect: shardwise::fixed_string<13>{"f32[8@x, 16]"}>
// expect: a tensor that is assigned keeps its extents and its layout
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", none>>>;
using B = sharded_tensor<float, extents<16>, layout<pod, P<none>>>;
void use(B& b, const A& a) { b += a; }
