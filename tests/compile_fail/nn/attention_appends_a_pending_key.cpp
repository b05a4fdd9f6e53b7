// SPDX-License-Identifier: BSL-1.0
// Keys that are pending are not appended to a cache, and cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read, shardwise::update_slice_of<2,
// longest-line: 2200
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using into = sharded_tensor<float, extents<8, 2, 4>, layout<pod, P<none, none, none>>>;
using merge = sharded_tensor<float, extents<2, 4, 8>, layout<pod, P<none, none, none>>>;
using heads = nn::attention<into, into, into, merge, P<"data", none, none>>;
using rows = layout<pod, P<"data", none, none>>;
using X = sharded_tensor<float, extents<4, 3, 8>, rows>;
using pending =
    sharded_tensor<float, extents<4, 3, 8>, layout<pod, P<"data", none, none>, partial<"model">>>;
auto use(const heads& attend, const pending& x, nn::cache_for<heads, X, 16>& cache) {
  return attend(x, cache);
}
