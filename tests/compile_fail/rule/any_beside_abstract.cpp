// SPDX-License-Identifier: BSL-1.0
// expect: beside a tensor whose layout is a value no tensor is abstract
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
auto use(const any_tensor<float>& x) { return x + abstract<A>(); }
