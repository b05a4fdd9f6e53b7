// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::host_elements_differ,
// expect: shardwise::of_types<double, float>>
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
auto use(const device_pool& pool, const Eigen::MatrixXd& m) { return distribute<A>(pool, m); }
