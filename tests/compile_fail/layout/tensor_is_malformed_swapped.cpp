// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::tensor_is_malformed<1, shardwise::detail::a_layout>
// expect: a sharded_tensor has an element type, extents<...> and a layout, in this order
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, layout<pod, P<"x">>, extents<8>>;
constexpr auto a = abstract<A>();
