// SPDX-License-Identifier: BSL-1.0
// longest-line: 500
// The gradient, its program and its budgets cause no further
// errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: a pending reduction is finished before its value is read
#include <shardwise/nn.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct tiles : layout<pod, P<"data", "model">> {};
struct rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<8, 16>, tiles>;
template <class W>
struct layer {
  W w;
};
template <class W>
struct model {
  layer<W> up, down;
};
using M = model<sharded_tensor<float, extents<16, 8>, rows>>;
constexpr auto loss = [](const auto& m, const auto& x) {
  return mean(relu(einsum<"bi,io->bo">(x, m.up.w)));
};
constexpr auto cost = trace_nests<512, M, X>(gradient(loss));
static_assert(cost.collectives() == 1 && cost.bytes_moved("model") == 64);
static_assert(trace_nests<512, M, X>(gradient(loss)).flops() >= 1000);
static_assert(trace_nests<512, M, X>(gradient<0, 1>(loss)).peak_bytes_per_device() == 7);
static_assert(trace_nests<512, M, X>(value_and_grad(loss)).collectives("data") == 2);
static_assert(trace_nests<512, M, X>(loss).flops() > 100);
static_assert(plan_program(trace_nests_program<512, M, X>(gradient(loss))).count == 9);
