// SPDX-License-Identifier: BSL-1.0
#include "harness.hpp"
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <memory>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

template <index_t N>
bench::row product(double goal) {
  using A = sharded_tensor<float, extents<N, N>, layout<pod, P<"data", none>>>;
  using B = sharded_tensor<float, extents<N, N>, layout<pod, P<none, "model">>>;
  using M = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  struct operands {
    device_pool pool{pod{}};
    A a = normal<A>(pool, random_key{1});
    B b = normal<B>(pool, random_key{2});
    M ea = to_host(a), eb = to_host(b), out{N, N};
  };
  const auto x = std::make_shared<operands>();
  return {"product " + std::to_string(N) + "^3 on 8 devices, 2 cores",
          "Eigen, one thread",
          [x] {
            const auto y = einsum<"ik,kj->ij">(x->a, x->b);
            sync(y);
            bench::keep(y);
          },
          [x] {
            x->out.noalias() = x->ea * x->eb;
            bench::keep(x->out);
          },
          1,
          goal};
}

const bench::add here([] {
  return std::vector<bench::row>{product<256>(1.5), product<1024>(1.9), product<2048>(1.9)};
});

}  // namespace
