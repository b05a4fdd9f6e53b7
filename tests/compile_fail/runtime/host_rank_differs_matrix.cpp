// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::host_rank_differs,
// expect: shardwise::of_types<>, shardwise::size_met{2}, shardwise::size_needed{3}>
// expect: the host's data has as many dimensions as the tensor
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using C = sharded_tensor<float, extents<2, 2, 2>, layout<pod, P<none, none, none>>>;
auto use(const device_pool& pool, const Eigen::MatrixXf& m) { return distribute<C>(pool, m); }
