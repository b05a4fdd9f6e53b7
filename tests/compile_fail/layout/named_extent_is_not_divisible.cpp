// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::extent_is_not_divisible<shardwise::dimension<1>, shardwise::extent<6>,
// expect: shardwise::parts<4>, shardwise::nearest<4, 8>
#include <shardwise/layout.hpp>
#include <shardwise/layout/logical_axes.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch", "data">, maps<"embed", "model", none>> {};
using X = named_tensor<rules, float, dim<"batch", 8>, dim<"embed", 6>>;
constexpr auto x = abstract<X>();
