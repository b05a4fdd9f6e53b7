// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::element_is_not_supported,
// expect: char>
// expect: elements are float, double, bfloat16, float16, bool, std::int8_t, std::uint8_t, std::int32_t or std::int64_t
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<char, extents<8>, layout<pod, P<"x">>>;
constexpr auto a = abstract<A>();
