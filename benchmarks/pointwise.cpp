// SPDX-License-Identifier: BSL-1.0
#include "harness.hpp"
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <memory>

using namespace shardwise;

namespace {

struct pair : mesh<axis<"data", 2>> {};
using V = sharded_tensor<float, extents<dyn>, layout<pair, P<"data">>>;

/// Four random vectors in a pool, and the same numbers in Eigen arrays.
struct operands {
  operands(index_t n, unsigned threads)
      : pool(pair{}, threads),
        a(normal<V>(pool, random_key{1}, n)),
        b(normal<V>(pool, random_key{2}, n)),
        c(normal<V>(pool, random_key{3}, n)),
        d(normal<V>(pool, random_key{4}, n)),
        out(n) {
    const auto host = [](const V& x) { return Eigen::VectorXf(to_host(x)).array().eval(); };
    ea = host(a), eb = host(b), ec = host(c), ed = host(d);
  }
  device_pool pool;
  V a, b, c, d;
  Eigen::ArrayXf ea, eb, ec, ed, out;
};

std::vector<bench::row> rows() {
  std::vector<bench::row> all;
  for (const index_t n : {index_t{10000}, index_t{1000000}, index_t{16000000}})
    for (const unsigned threads : {1U, 2U}) {
      const auto x = std::make_shared<operands>(n, threads);
      all.push_back(
          {"relu(a*b+c)*d, n=" + std::to_string(n) + ", " + std::to_string(threads) + " worker(s)",
           "Eigen array, fused",
           [x] {
             const V y = relu(x->a * x->b + x->c) * x->d;
             sync(y);
             bench::keep(y);
           },
           [x] {
             x->out = (x->ea * x->eb + x->ec).max(0.0F) * x->ed;
             bench::keep(x->out);
           },
           1, n == 1000000 ? (threads == 1 ? 0.95 : 1.8 * 0.95) : 0.8});
      all.push_back(
          {"gelu(a*b+c)*d, n=" + std::to_string(n) + ", " + std::to_string(threads) + " worker(s)",
           "Eigen array, fused",
           [x] {
             const V y = gelu(x->a * x->b + x->c) * x->d;
             sync(y);
             bench::keep(y);
           },
           [x] {
             const auto t = x->ea * x->eb + x->ec;
             x->out =
                 0.5F * t * (1.0F + (0.7978845608F * (t + 0.044715F * t * t * t)).tanh()) * x->ed;
             bench::keep(x->out);
           },
           1, threads == 1 ? 0.9 : (n == 1000000 ? 1.6 : 1.0)});
    }
  return all;
}

const bench::add here(rows);

}  // namespace
