// SPDX-License-Identifier: BSL-1.0
// The error names the operands of the call, and the correction is one that the program can write.
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::einsum_of<shardwise::fixed_string<13>{"ab,bc,cd->ad"}>
// expect: shardwise::operand_at{2}, shardwise::dimension_at{0}, shardwise::called<6>{"model"}, shardwise::suggested<34>{"reshard<P<data, none>>(operand 2)"}>
// expect: corresponding dimensions are split the same way
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct whole : layout<pod, P<none, none>> {};
struct columns : layout<pod, P<none, "data">> {};
struct rows : layout<pod, P<"model", none>> {};
using A = sharded_tensor<float, extents<16, 32>, whole>;
using B = sharded_tensor<float, extents<32, 8>, columns>;
using C = sharded_tensor<float, extents<8, 16>, rows>;
auto use(const A& a, const B& b, const C& c) { return einsum<"ab,bc,cd->ad">(a, b, c); }
