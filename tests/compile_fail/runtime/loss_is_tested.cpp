// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::converted_to<bool>, shardwise::suggested<37>{"to_host(x).value() or where(x, a, b)"}>
// expect: a tensor is not one number or bool: write exp(x) without std::, where(c, x, y) for if, to_host(x) to read
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using S = sharded_tensor<float, extents<>, layout<pod, P<>>>;
void use(S loss) {
  while (loss > 0.1F) loss = loss * 0.5F;
}
