// SPDX-License-Identifier: BSL-1.0
// expect: operator H() const = delete;  // to_host(x) is a matrix, to_host(x).elements() a vector
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
Eigen::MatrixXf use(const A& a) { return a; }
