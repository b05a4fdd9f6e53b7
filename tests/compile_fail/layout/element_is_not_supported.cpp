// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::element_is_not_supported<bool>
// expect: elements are float, double, int32_t or int64_t, none of them const
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<bool, extents<8>, layout<pod, P<"x">>>;
constexpr auto a = abstract<A>();
