// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: a pending reduction is finished before its value is read
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", "model">> {};
struct columns : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<8, 16>, rows>;
using W = sharded_tensor<float, extents<16, 8>, columns>;

constexpr auto model = [](const auto& x, const auto& w) {
  const auto h = relu(einsum<"bi,io->bo">(x, w));
  const auto a = tanh(h) + h;
  const auto c = sum<1>(a * 2.0F);
  const auto d = reshard<P<"data">>(c);
  const auto g = maximum(mean<0>(d), c);
  const auto t = transpose<1, 0>(a);
  const auto k = einsum<"io,bo->ib">(t, t);
  auto q = where(a > 0.0F, a, h);
  q = a;
  q += a;
  const auto [best, at] = max_with_index<0>(q);
  return std::tuple(g, k, -q, best, at, concatenate<0>(q, h), reshape<extents<64>>(q),
                    cast<double>(q));
};

constexpr auto cost = trace(model, abstract<X>(), abstract<W>());
static_assert(cost.collectives("model") == 1);
static_assert(cost.collectives(collective::all_reduce) == 1 && cost.bytes_moved() > 100);
static_assert(cost.peak_bytes_per_device() <= 16_MiB);
