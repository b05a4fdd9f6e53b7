// SPDX-License-Identifier: BSL-1.0
// A helper of a function whose gradient is traced returns the type of a tensor in a pool.
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_on_paper, pod,
// expect: "f32[8@data, 16]"
// expect: the tensors of a traced function are abstract: declare its parameters and variables
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 16>, rows>;
constexpr auto hidden = [](const auto& x) -> X { return relu(x); };
constexpr auto loss = [](const auto& x) { return sum(square(hidden(x))); };
constexpr auto cost = trace(gradient(loss), abstract<X>());
static_assert(cost.collectives() == 0);
