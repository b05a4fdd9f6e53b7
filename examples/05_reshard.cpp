// SPDX-License-Identifier: BSL-1.0
// `reshard` moves data between devices. Its cost is known at compile time and counted at run time,
// and the two are equal.
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

using X = sharded_tensor<float, extents<256, 1024>, layout<pod, P<"data", "model">>>;
using W = sharded_tensor<float, extents<1024, 512>, layout<pod, P<"model", none>>>;

// Both finish the same pending sum. The first gives every device whole rows, the second a quarter
// of the columns, which moves half as many bytes.
constexpr auto by_all_reduce = [](const auto& x, const auto& w) {
  return reshard<P<"data", none>>(einsum<"bi,io->bo">(x, w));
};
constexpr auto by_reduce_scatter = [](const auto& x, const auto& w) {
  return reshard<P<"data", "model">>(einsum<"bi,io->bo">(x, w));
};

constexpr auto reduce_cost = trace(by_all_reduce, abstract<X>(), abstract<W>());
constexpr auto scatter_cost = trace(by_reduce_scatter, abstract<X>(), abstract<W>());
static_assert(reduce_cost.collectives(collective::all_reduce, "model") == 1);
static_assert(scatter_cost.collectives(collective::reduce_scatter, "model") == 1);
static_assert(reduce_cost.collectives() == 1 && scatter_cost.collectives() == 1);
static_assert(scatter_cost.bytes_moved() * 2 == reduce_cost.bytes_moved());
static_assert(scatter_cost.bytes_moved("data") == 0);

int main() {
  device_pool pool{pod{}};
  const auto x = normal<X>(pool, random_key{1});
  const auto w = normal<W>(pool, random_key{2});

  pool.reset_counters();
  const auto rows = by_all_reduce(x, w);
  std::cout << explain(rows) << '\n';
  sync(rows);
  const bool counted = pool.counters() == reduce_cost;
  std::cout << "The pool counted " << pool.counters().bytes_moved()
            << " bytes received, the compiler " << reduce_cost.bytes_moved() << ".\n\n";

  const auto tiles = by_reduce_scatter(x, w);
  std::cout << explain(tiles) << '\n';
  const Eigen::MatrixXf a = to_host(rows);
  const Eigen::MatrixXf b = to_host(tiles);
  std::cout << "Largest difference of the two results: " << (a - b).cwiseAbs().maxCoeff() << '\n';
  return counted && a.isApprox(b) ? 0 : 1;
}
