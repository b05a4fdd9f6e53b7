// SPDX-License-Identifier: BSL-1.0
// expect: what is loaded into is a variable, not const
#include <shardwise/io.hpp>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
struct model {
  X weight;
};
void use(const model& m) { load_safetensors("model.safetensors", m); }
