// SPDX-License-Identifier: BSL-1.0
// longest-line: 450
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<5>{"data"}
// expect: reshard<P<none, none>>(operand 1)
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class T, index_t Rows, class Spec>
using matrix = sharded_tensor<T, extents<Rows, 4>, layout<pod, Spec>>;
using X = matrix<float, 8, P<none, none>>;
using Indices = matrix<int, 2, P<"data", none>>;
using Updates = matrix<float, 2, P<none, none>>;

auto use() {
  return put_along<0, scatter_mode::add>(abstract<X>(), abstract<Indices>(), abstract<Updates>());
}
