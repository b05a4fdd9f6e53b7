// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::options_are_template_arguments,
// expect: {"one_hot<10>(ids)"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using I = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"data">>>;
constexpr auto f = [](const auto& ids) { return one_hot(ids, 10); };
static_assert(trace(f, abstract<I>()).collectives() == 0);
