// SPDX-License-Identifier: BSL-1.0
// expect: beside a tensor whose layout is a value no tensor is abstract
// longest: 600
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use(const any_tensor<float>& x) { return x + abstract<A>(); }
