// SPDX-License-Identifier: BSL-1.0
// Tensors made of the rows that each process has of a batch.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include "support/values.hpp"
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, class... How>
using tensor = sharded_tensor<float, extents<dyn, 3>, layout<pod, Spec, partial<>, How...>>;
using by_data = tensor<P<"data", none>, uneven>;
using by_both = tensor<P<by("data", "model"), none>, uneven>;
using by_columns = tensor<P<none, "model">, uneven>;
using cut_once_over_both = tensor<P<cut_once("model", "data"), none>, uneven>;
using by_rows_and_columns = tensor<P<"data", "model">, uneven>;

const std::vector<index_t> halves{0, 0, 1, 1};

index_t self(const device_pool& pool) {
  return pool.state()->link() != nullptr ? pool.state()->link()->self() : 0;
}
std::vector<float> counted(index_t rows) {
  std::vector<float> all(static_cast<std::size_t>(rows * 3));
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}
/// The rows of this process of a batch.
template <class X>
std::vector<float> own_rows(const device_pool& pool, index_t rows) {
  const std::vector<float> all = counted(rows);
  const owner_link* const link = pool.state()->link();
  const owner_rows of_owners(pool.mesh(), X::layout_type::value,
                             link != nullptr ? link->owners() : device_owners());
  std::vector<float> mine;
  for (const index_range& each : of_owners.of(self(pool), rows))
    mine.insert(mine.end(), all.begin() + each.begin * 3, all.begin() + each.end * 3);
  return mine;
}
template <class X>
void makes_batch(const device_pool& pool, index_t rows) {
  const auto mine = own_rows<X>(pool, rows);
  const auto wanted = to_host(distribute<X>(pool, counted(rows)));
  if (to_host(from_process_batch<X>(pool, mine)) != wanted) throw std::logic_error("run");
  const extents_desc shape{static_cast<index_t>(mine.size()) / 3, 3};
  const host_tensor<float> block(shape, mine);
  if (to_host(from_process_batch<X>(pool, block)) != wanted) throw std::logic_error("block");
  const auto any = from_process_batch(pool, block, {dyn, dyn}, X::layout_type::value);
  if (to_host(any) != wanted) throw std::logic_error("any");
}
template <class Program>
std::vector<std::string> failures(const Program& program) {
  return support::words_of(support::run_owners(pod::value, halves, program));
}

}  // namespace

TEST_CASE("each process gives its own rows of a batch") {
  const auto all_layouts = [](const device_pool& pool) {
    for (const index_t rows : {8, 5, 1, 0}) {
      makes_batch<by_data>(pool, rows);
      makes_batch<by_both>(pool, rows);
      makes_batch<by_columns>(pool, rows);
      makes_batch<cut_once_over_both>(pool, rows);
      makes_batch<by_rows_and_columns>(pool, rows);
    }
  };
  all_layouts(device_pool(pod{}));
  for (const support::ownership& each : support::ownerships(4))
    support::run_all_owners(pod::value, each.owner_of, all_layouts, each.settings);
}

TEST_CASE("rows come from Eigen matrices of either order too") {
  support::run_all_owners(pod::value, halves, [](const device_pool& pool) {
    const std::vector<float> mine = own_rows<by_data>(pool, 5);
    const auto rows = static_cast<index_t>(mine.size()) / 3;
    using row_major = Eigen::Matrix<float, Eigen::Dynamic, 3, Eigen::RowMajor>;
    const Eigen::MatrixXf matrix = Eigen::Map<const row_major>(mine.data(), rows, 3);
    if (to_host(from_process_batch<by_data>(pool, matrix)) !=
        to_host(distribute<by_data>(pool, counted(5))))
      throw std::logic_error("matrix");
  });
}

TEST_CASE("rows that do not make a batch are an error that says who gave how many") {
  for (const std::string& words : failures([](const device_pool& pool) {
         (void)from_process_batch<by_data>(pool, counted(self(pool) == 0 ? 2 : 4));
       }))
    REQUIRE_THAT(words, ::contains("host_size_differs") &&
                            ::contains("of 6 rows, process 0 gave 2 and holds 3; process 1 gave 4 "
                                       "and holds 3"));
  using fixed =
      sharded_tensor<float, extents<8, 3>, layout<pod, P<"data", none>, partial<>, uneven>>;
  for (const std::string& words : failures([](const device_pool& pool) {
         (void)from_process_batch<fixed>(pool, counted(self(pool) == 0 ? 4 : 3));
       }))
    REQUIRE_THAT(words, ::contains("process 1 gave 3 and holds 4"));
  // Equal parts are wanted.
  using exactly = sharded_tensor<float, extents<dyn, 3>, layout<pod, P<"data", none>>>;
  for (const std::string& words : failures([](const device_pool& pool) {
         (void)from_process_batch<exactly>(pool, counted(self(pool) == 0 ? 3 : 2));
       }))
    REQUIRE_THAT(words, ::contains("process 0 gave 3; process 1 gave 2"));
  for (const std::string& words : failures([](const device_pool& pool) {
         const extents_desc shape{2, self(pool) == 0 ? 3 : 4};
         const host_tensor<float> rows(
             shape, std::vector<float>(static_cast<std::size_t>(element_count(shape))));
         (void)from_process_batch(pool, rows, {dyn, dyn}, by_data::layout_type::value);
       }))
    REQUIRE_THAT(words, ::contains("process 1 gave rows of another extent"));
  const device_pool alone(pod{});
  REQUIRE_THROWS_WITH(from_process_batch<fixed>(alone, counted(7)),
                      ::contains("process 0 gave 7 and holds 8"));
  REQUIRE_THROWS_WITH(from_process_batch(alone, host_tensor<float>({2}, {1, 2}), {dyn, dyn},
                                         spec_desc{{"data", ""}}),
                      ::contains("rank_differs_from_spec"));
}
