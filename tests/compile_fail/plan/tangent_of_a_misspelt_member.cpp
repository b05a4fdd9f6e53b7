// SPDX-License-Identifier: BSL-1.0
// An error in the function is the only one.
// expect: no member named 'wieght'
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;
struct module {
  X weight;
  X bias;
};

void use(const module& m, const module& along) {
  const auto [value, tangent] =
      jvp([](const auto& at) { return exp(at.wieght) + at.bias; }, m, along);
  std::cout << to_host(relu(value)) << to_host(tangent);
}
