// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_hidden, shardwise::of_types<model>>
// expect: the tensors of a nest are in tuples, vectors and aggregates, not in optionals, pointers or maps
#include <shardwise/shardwise.hpp>

#include <map>
#include <string>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<none>>>;
struct model {
  A weight;
  std::map<std::string, A> biases;
};
void f(const model& m) {
  step([](const auto& net) { return 2 * net.weight; })(m);
}
