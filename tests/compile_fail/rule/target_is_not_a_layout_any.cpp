// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::target_is_not_a_layout,
// expect: pod>
// expect: data moves to a spec P<...> or a layout<...>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
any_tensor<float> use(const any_tensor<float>& x) { return reshard<pod>(x) + 1.0F; }
