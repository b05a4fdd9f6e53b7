// SPDX-License-Identifier: BSL-1.0
// A two-layer perceptron in the Megatron layout: the first weight is split by columns, the second
// by rows, so a single all_reduce at the end is the only communication.
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

using X = sharded_tensor<float, extents<dyn, 256>, layout<pod, P<"data", none>>>;
using W1 = sharded_tensor<float, extents<256, 1024>, layout<pod, P<none, "model">>>;
using W2 = sharded_tensor<float, extents<1024, 256>, layout<pod, P<"model", none>>>;

constexpr auto mlp = [](const auto& x, const auto& w1, const auto& w2) {
  auto h = gelu(einsum<"bi,ih->bh">(x, w1));  // f32[b@data, 1024@model], no communication
  return einsum<"bh,ho->bo">(h, w2);          // f32[b@data, 256]{partial sum: model}
};

constexpr auto ledger_of_mlp = trace(mlp, abstract<X>(512), abstract<W1>(), abstract<W2>());
static_assert(ledger_of_mlp.collectives() == 0);
static_assert(ledger_of_mlp.peak_bytes_per_device() <= 2_MiB);

int main() {
  device_pool pool{pod{}};
  const Eigen::MatrixXf host_batch = Eigen::MatrixXf::Random(512, 256);
  const auto x = distribute<X>(pool, host_batch);
  const auto w1 = normal<W1>(pool, random_key{1});
  const auto w2 = normal<W2>(pool, random_key{2});

  const auto y = reshard<P<"data", none>>(mlp(x, w1, w2));  // the only all_reduce
  visualize(y);
  std::cout << explain(y);
  const Eigen::MatrixXf out = to_host(y);  // runs here

  // The same on one core with plain Eigen.
  Eigen::MatrixXf h = host_batch * Eigen::MatrixXf(to_host(w1));
  h = h.unaryExpr([](float v) {
    return 0.5F * v * (1.0F + std::tanh(0.7978845608F * (v + 0.044715F * v * v * v)));
  });
  const Eigen::MatrixXf want = h * Eigen::MatrixXf(to_host(w2));
  const float error = (out - want).norm() / want.norm();
  std::cout << "relative difference from one core: " << error << '\n';
  return error < 1e-5F ? 0 : 1;
}
