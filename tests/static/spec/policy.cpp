// SPDX-License-Identifier: BSL-1.0
#include <shardwise/paper.hpp>

#include <type_traits>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};

// A policy is spelled as in types; a number is not a policy.
static_assert(resolve(pod::value, {{"data"}}).layout == layout<pod, P<"data">>::value);
static_assert(resolve(pod::value, {{"data"}}, {}, uneven{}).layout ==
              layout<pod, P<"data">, partial<>, uneven>::value);
static_assert(layout_of(pod::value, {{"data"}}, {}, exact{}) == layout<pod, P<"data">>::value);
static_assert(policy_desc(uneven{}).is_uneven && !policy_desc(exact{}).is_uneven);
static_assert(policy_desc(layout<pod, P<"data">, partial<>, uneven>::value.uneven) == uneven{});
static_assert(!std::is_convertible_v<bool, policy_desc>);
