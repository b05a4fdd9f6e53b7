// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::options_are_template_arguments,
// expect: the options of an operation on typed tensors are template arguments, before the operands
// expect: {"einsum<\"bi,io->bo\">(x, w)"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<16, 4>, layout<pod, P<none, none>>>;
auto use(const X& x, const W& w) { return einsum("bi,io->bo", x, w) + 1.0F; }
