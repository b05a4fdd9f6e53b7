// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::einsum_of<shardwise::fixed_string<10>{"bi,ih->bh"}>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<5>{"data"}, shardwise::suggested<35>{"reshard<P<model, none>>(operand 1)"}>
// expect: shardwise::fixed_string<10>{"bi,ih->bh"}>,
// expect: corresponding dimensions are split the same way
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct activations : layout<pod, P<"data", "model">> {};
struct weights : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<1024, 4096>, activations>;
using W = sharded_tensor<float, extents<4096, 1024>, weights>;
auto use() { return einsum<"bi,ih->bh">(abstract<X>(), abstract<W>()); }
