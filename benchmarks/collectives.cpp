// SPDX-License-Identifier: BSL-1.0
// Sums over devices beside the obvious loop, which adds one term after the other, one thread each.
#include "harness.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

template <index_t Devices>
struct line : mesh<axis<"data", Devices>> {};

template <index_t Devices, index_t Count>
struct pending_sum {
  using X = sharded_tensor<float, extents<Count>, layout<line<Devices>, P<none>, partial<"data">>>;

  device_pool pool{line<Devices>{}, 1};
  std::vector<std::vector<float>> terms = std::vector<std::vector<float>>(
      Devices, std::vector<float>(static_cast<std::size_t>(Count), 0.5F));
  X x = from_shards<X>(pool, terms);
  std::vector<float> out = std::vector<float>(static_cast<std::size_t>(Count));
};

template <index_t Devices, index_t Count>
bench::row sum_row(double goal = 1) {
  const auto all = std::make_shared<pending_sum<Devices, Count>>();
  return {"all_reduce of " + std::to_string(Devices) + " terms, " + std::to_string(Count),
          "the loop, one thread",
          [all] {
            const auto y = reshard<P<none>>(all->x);
            sync(y);
            bench::keep(y);
          },
          [all] {
            std::copy(all->terms[0].begin(), all->terms[0].end(), all->out.begin());
            for (std::size_t t = 1; t < all->terms.size(); ++t)
              for (std::size_t i = 0; i < all->out.size(); ++i) all->out[i] += all->terms[t][i];
            bench::keep(all->out);
          },
          1,
          goal};
}

std::vector<bench::row> rows() {
  // What a program costs beside the loop weighs most in the smallest one.
  return {sum_row<2, 10000>(0.5), sum_row<8, 10000>(),   sum_row<64, 10000>(),
          sum_row<2, 1000000>(),  sum_row<8, 1000000>(), sum_row<12, 1000000>(),
          sum_row<64, 100000>()};
}

const bench::add here(rows);

}  // namespace
