// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_have_no_fractions,
// expect: hard_sigmoid_of
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using X = abstract_tensor<int, extents<8>, layout<pod, P<"data">>>;

auto use(const X& x) { return hard_sigmoid(x); }
