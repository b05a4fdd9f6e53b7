// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::tensor_type_differs,
// expect: own_type<17>{"f32[8, 16@model]"}
// expect: given_type<16>{"f32[8@data, 16]"}
// expect: {"reshard<P<none, model>>(x)"}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using XM = sharded_tensor<float, extents<8, 16>, layout<pod, P<none, "model">>>;

auto use(const X& x) {
  const auto f = [](const X& a) {
    XM y = a;
    return y;
  };
  return f(x);
}
