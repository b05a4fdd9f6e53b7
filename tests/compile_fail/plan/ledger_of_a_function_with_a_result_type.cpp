// SPDX-License-Identifier: BSL-1.0
// The type that a function states for an invalid result causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: a pending reduction is finished before its value is read
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct tiles : layout<pod, P<"data", "model">> {};
struct rows : layout<pod, P<"model", none>> {};
struct kept : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 16>, tiles>;
using W = sharded_tensor<float, extents<16, 8>, rows>;
using Y = abstract_tensor<float, extents<8, 8>, kept>;
constexpr auto f = [](const auto& x, const auto& w) -> Y {
  return relu(einsum<"bi,io->bo">(x, w));
};
constexpr auto g = [](const auto& x, const auto& w) {
  const Y h = f(x, w);
  const float scale = relu(einsum<"bi,io->bo">(x, w));
  return reshard<P<>>(mean(scale * h + tanh(h) * 2.0F));
};
static_assert(trace(f, abstract<X>(), abstract<W>()).flops() <= 1000);
static_assert(trace(f, abstract<X>(), abstract<W>()).collectives("model") == 0);
static_assert(trace(g, abstract<X>(), abstract<W>()).collectives() <= 1);
static_assert(trace(g, abstract<X>(), abstract<W>()).peak_bytes_per_device() <= 16_MiB);
