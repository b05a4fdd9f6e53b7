// SPDX-License-Identifier: BSL-1.0
// The missing constant is not a second error.
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_in_pool,
// expect: shardwise::as_written<shardwise::fixed_string<6>{"f32[]"}>, shardwise::called<8>{"to_host"}>
// expect: what is computed or read is a tensor in a device pool
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using V = sharded_tensor<float, extents<8>, rows>;
struct loss {
  constexpr auto operator()(const auto& v) const { return to_host(reshard<P<>>(sum(v))).value(); }
};
constexpr auto cost = trace(loss{}, abstract<V>());
