// SPDX-License-Identifier: BSL-1.0
// expect: a picture needs every size
#include <shardwise/draw.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
void f() { visualize<sharded_tensor<float, extents<dyn, 4>, layout<pod, P<"x", none>>>>(); }
