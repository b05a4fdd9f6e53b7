// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::argument_is_unexpected,
// expect: shardwise::of_types<int, shardwise::nothing_given>, shardwise::operand_at{2}>
// expect: after the pool come the values, then one size for each dyn extent
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using D = sharded_tensor<float, extents<dyn, dyn>, layout<pod, P<"data", none>>>;
auto use(const device_pool& pool, const Eigen::MatrixXf& m) { return distribute<D>(pool, m, 4, 4); }
