// SPDX-License-Identifier: BSL-1.0
// Types that read alike differ in their policy.
// expect: shardwise::broken_rule<shardwise::violation::tensor_type_differs,
// expect: own_type<16>{"f32[6@x], exact"}
// expect: given_type<17>{"f32[6@x], uneven"}
// expect: {"reshard<P<x>, exact>(x)"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using exactly = sharded_tensor<float, extents<6>, layout<pod, P<"x">>>;
using perhaps_uneven = sharded_tensor<float, extents<6>, layout<pod, P<"x">, partial<>, uneven>>;

void use(const perhaps_uneven& x) { exactly y = x; }
