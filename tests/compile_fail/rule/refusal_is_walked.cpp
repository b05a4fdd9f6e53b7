// SPDX-License-Identifier: BSL-1.0
// The members of what is read from the result of an invalid operation cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::axis_would_split_twice,
// expect: shardwise::einsum_of<shardwise::fixed_string<10>{"bi,ij->bj"}>
// expect: a mesh axis splits one dimension of an operation
#include <shardwise/shardwise.hpp>

#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
void use(const X& x) {
  const auto z = einsum<"bi,ij->bj">(x, x);
  const auto host = to_host(z);
  for (const float v : host.elements()) std::cout << v;
  for (const float v : host) std::cout << v;
  const index_t rows = z.extents()[0], count = host.size();
  const float first = host.elements()[0];
  std::cout << rows << count << first << local(z, 0).range() << local(z, 0).elements()[1];
}
