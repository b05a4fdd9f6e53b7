// SPDX-License-Identifier: BSL-1.0
// expect: broken_rule<shardwise::misuse::elements_have_no_fractions, shardwise::as_written<
// expect: i32[4@data]
// expect: random numbers, roots, exponentials, means and gradients need floating-point elements
#include <shardwise/shardwise.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
template <class T>
using row = sharded_tensor<T, extents<4>, layout<pod, P<"data">>>;

struct counted {
  row<float> weight;
  row<std::int32_t> count;
};

auto slope(const counted& all) {
  return gradient([](const auto& a) { return sum(a.weight * cast<float>(a.count)); })(all);
}
