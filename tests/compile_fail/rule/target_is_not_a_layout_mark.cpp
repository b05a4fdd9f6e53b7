// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::target_is_not_a_layout,
// expect: int>
// expect: data moves to a spec P<...> or a layout<...>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
auto use() { return mark_sharding<int>(abstract<X>()); }
