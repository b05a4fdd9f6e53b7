// SPDX-License-Identifier: BSL-1.0
// Modules on the result cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{6}, shardwise::size_needed{4}>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct flat : layout<pod, P<none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using Y = sharded_tensor<float, extents<8, 6>, rows>;
using W = nn::whole<float, pod, 4, 4>;
using V = sharded_tensor<float, extents<4>, flat>;
using labels = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"data">>>;
auto use(const X& x, const Y& y, const nn::linear<W, V>& up, const nn::rms_norm<V>& norm,
         const nn::layer_norm<V>& other, const labels& wanted) {
  const auto sum = x + y;
  return nn::cross_entropy(other(up(norm(sum))), wanted);
}
