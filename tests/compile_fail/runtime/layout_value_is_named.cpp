// SPDX-License-Identifier: BSL-1.0
// expect-gcc: use of deleted function
// expect: as<X>(any) checks elements, extents and layout
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
void use(const any_tensor<float>& any) { const A a = any; }
