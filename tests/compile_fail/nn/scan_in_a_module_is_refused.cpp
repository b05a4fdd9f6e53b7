// SPDX-License-Identifier: BSL-1.0
// Between an error in the layer of a scan and the call of the scan stands one function.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: a pending reduction is finished before its value is read
// longest-line: 600
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct tiles : layout<pod, P<"data", "model">> {};
struct rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<8, 16>, tiles>;
using W = sharded_tensor<float, extents<16, 16>, rows>;
struct model {
  std::vector<W> layers;

  auto operator()(const auto& x) const {
    const auto [last, all] = scan(
        [](const auto& h, const auto& w) {
          const auto next = relu(einsum<"bi,io->bo">(h, w));
          return scanned{next, sum(next)};
        },
        x, in_reverse, layers);
    return last + sum<0>(all);
  }
};
auto use(const X& x, const model& m) { return m(x) + 1.0F; }
