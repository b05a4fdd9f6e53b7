// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::host_elements_differ,
// expect: shardwise::of_types<double, float>>
// expect: host data has the element type of the tensor
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using V = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use(const V& v) { return load_local_shards(v, std::vector<Eigen::VectorXd>(8)); }
