// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_abstract,
// expect: shardwise::einsum_of<shardwise::fixed_string<10>{"bi,ih->bh"}>, shardwise::operand_at{0}>
// expect: abstract tensors combine only with abstract tensors and numbers
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<4096, 1024>, layout<pod, P<none, "model">>>;
auto use(const W& w) { return einsum<"bi,ih->bh">(abstract<X>(), w); }
