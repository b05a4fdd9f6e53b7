// SPDX-License-Identifier: BSL-1.0
// The first program of the documentation, at namespace scope as in programs.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

using X = sharded_tensor<float, extents<dyn, 1024>, layout<pod, P<"data", none>>>;
using W1 = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<none, "model">>>;
using W2 = sharded_tensor<float, extents<4096, 1024>, layout<pod, P<"model", none>>>;

constexpr auto mlp = [](const auto& x, const auto& w1, const auto& w2) {
  auto h = gelu(einsum<"bi,ih->bh">(x, w1));  // f32[b@data, 4096@model], no communication
  return einsum<"bh,ho->bo">(h, w2);          // f32[b@data, 1024]{partial sum: model}
};

constexpr auto ledger = trace(mlp, abstract<X>(512), abstract<W1>(), abstract<W2>());
static_assert(ledger.collectives() == 0);
static_assert(ledger.peak_bytes_per_device() <= 16_MiB);

TEST_CASE("the first program computes, shows its layouts and says what it does") {
  const Eigen::MatrixXf host_batch = Eigen::MatrixXf::Constant(2, 1024, 0.01F);
  device_pool pool{pod{}};
  auto x = distribute<X>(pool, host_batch);
  auto w1 = normal<W1>(pool, random_key{1});
  auto w2 = normal<W2>(pool, random_key{2});
  auto y = reshard<P<"data", none>>(mlp(x, w1, w2));  // the one all_reduce, written down
  visualize(y);                                       // who holds what
  CHECK_THAT(explain(y), contains("all_reduce"));     // steps, bytes, fused kernels
  Eigen::MatrixXf out = to_host(y);                   // runs here
  CHECK(out.rows() == 2);
  CHECK(out.row(0) == out.row(1));
  CHECK(pool.counters().collectives() == 1);
}
