// SPDX-License-Identifier: BSL-1.0
// expect: to_host(x) a matrix or elements
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
Eigen::MatrixXf use(const A& a) { return a; }
