// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_hidden, shardwise::of_types<model>>
// expect: the tensors of a nest are in tuples, vectors and aggregates, not in optionals, pointers or maps
#include <shardwise/paper.hpp>

#include <optional>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = decltype(abstract<sharded_tensor<float, extents<8>, layout<pod, P<none>>>>());
struct model {
  A weight;
  std::optional<A> bias;
};
constexpr auto total = [](const auto& m) { return sum(m.weight + *m.bias); };
void f(const model& m) { vmap<0>(total)(m); }
