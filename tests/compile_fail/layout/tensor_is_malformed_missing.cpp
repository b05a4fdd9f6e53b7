// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_malformed,
// expect: shardwise::internal::missing, shardwise::argument_at{2}>
// expect: a sharded_tensor has an element type, extents<...> and a layout, in this order
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>>;
constexpr auto a = abstract<A>();
