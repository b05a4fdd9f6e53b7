// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/host/from_host_batches.hpp>
#include <shardwise/host/from_shards.hpp>
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <array>
#include <limits>
#include <list>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
struct line : mesh<axis<"x", 8>> {};
using blocks = std::vector<std::vector<float>>;

template <class Extents, class Spec, class Partial = partial<>, class Policy = uneven>
using on_pod = sharded_tensor<float, Extents, layout<pod, Spec, Partial, Policy>>;
using M = on_pod<extents<dyn, dyn>, P<"x", "y">>;
using V = on_pod<extents<dyn>, P<"y">>;
using R = on_pod<extents<dyn, 3>, P<none, none>>;

template <class T>
std::vector<typename T::value_type> values(const T& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}

}  // namespace

TEST_CASE("blocks of host memory become the parts of the devices, in their order") {
  const device_pool pool{pod{}};
  // Rows 0 and 1 of three to x=0, columns 0 and 1 of three to y=0.
  const std::vector<float> wanted{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<Eigen::MatrixXf> matrices{Eigen::MatrixXf{{1, 2}, {4, 5}},
                                              Eigen::MatrixXf{{3}, {6}}, Eigen::MatrixXf{{7, 8}},
                                              Eigen::MatrixXf{{9}}};
  const M x = from_shards<M>(pool, matrices);
  REQUIRE(x.extents() == extents_desc{3, 3});
  REQUIRE(values(x) == wanted);
  REQUIRE(local(x, 2).elements()[1] == 8.0F);
  // Runs of elements, whose extents follow from the sizes.
  const blocks runs{{1, 2, 4, 5}, {3, 6}, {7, 8}, {9}};
  REQUIRE(values(from_shards<M>(pool, runs, 3, 3)) == wanted);
  REQUIRE(values(from_shards<on_pod<extents<dyn, 3>, P<"x", "y">>>(pool, runs)) == wanted);
  REQUIRE(values(from_shards(pool, runs, {3, 3}, M::layout_type::value)) == wanted);
  const auto half = from_shards(pool, blocks{{1, 2}, {3, 4}}, {dyn, 2}, spec_desc{{"x", ""}});
  REQUIRE(half.layout() == layout<pod, P<"x", none>>::value);
  REQUIRE(values(half) == std::vector<float>{1, 2, 3, 4});
  const auto ragged = from_shards(pool, runs, {3, 3}, spec_desc{{"x", "y"}}, uneven{});
  REQUIRE(ragged.tensor() == any_tensor<float>(x).tensor());
  REQUIRE(values(ragged) == wanted);
  // Row-major matrices, maps, blocks of matrices, and the results of `shards` and `to_host`.
  using row_major_matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const std::vector<row_major_matrix> rows(matrices.begin(), matrices.end());
  REQUIRE(values(from_shards<M>(pool, rows)) == wanted);
  const Eigen::MatrixXf whole = to_host(x);
  using part = std::remove_const_t<decltype(whole.block(0, 0, 1, 1))>;
  const std::list<part> parts{whole.block(0, 0, 2, 2), whole.block(0, 2, 2, 1),
                              whole.block(2, 0, 1, 2), whole.block(2, 2, 1, 1)};
  REQUIRE(values(from_shards<M>(pool, parts)) == wanted);
  REQUIRE(values(from_shards<M>(pool, shards(x))) == wanted);
  const std::array one{to_host(x)};
  REQUIRE(values(from_shards<R>(pool, one)) == wanted);
  std::vector<std::span<const float>> spans(runs.begin(), runs.end());
  REQUIRE(values(from_shards<M>(pool, spans, 3, 3)) == wanted);
}

TEST_CASE("vectors of one dimension, replicas left out or compared bit for bit") {
  const device_pool pool{pod{}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(values(from_shards<V>(pool, blocks{{1, 2}, {3}})) == std::vector<float>{1, 2, 3});
  REQUIRE(values(from_shards<V>(pool, blocks{{1, 2}, {3}, {1, 2}, {3}})).size() == 3);
  REQUIRE(from_shards<V>(pool, blocks{{nan}, {}, {nan}, {}}).extents() == extents_desc{1});
  const std::vector<Eigen::VectorXf> columns{Eigen::VectorXf::Constant(2, 1.0F),
                                             Eigen::VectorXf::Constant(1, 3.0F)};
  REQUIRE(values(from_shards<V>(pool, columns)) == std::vector<float>{1, 1, 3});
  const std::vector<Eigen::RowVectorXf> flat{Eigen::RowVectorXf::Constant(2, 1.0F),
                                             Eigen::RowVectorXf::Constant(1, 3.0F)};
  REQUIRE(values(from_shards<V>(pool, flat)) == std::vector<float>{1, 1, 3});
  REQUIRE_THROWS_WITH(from_shards<V>(pool, blocks{{1, 2}, {3}, {1, 2}, {4}}),
                      contains("replicas_differ: devices that hold the same part are given the "
                               "same bits (shard 3)"));
  REQUIRE_THROWS_WITH(from_shards<V>(pool, blocks{{0.0F}, {}, {-0.0F}, {}}), contains("(shard 2)"));
}

TEST_CASE("blocks for a pending layout are terms") {
  using T = on_pod<extents<dyn>, P<"x">, partial<"y">>;
  const device_pool pool{pod{}};
  const T x = from_shards<T>(pool, blocks{{1, 2}, {10, 20}, {3, 4}, {30, 40}});
  REQUIRE(x.extents() == extents_desc{4});
  REQUIRE(values(reshard<P<"x">>(x)) == std::vector<float>{11, 22, 33, 44});
}

TEST_CASE("blocks of truth values are compared where devices hold the same part") {
  using B = sharded_tensor<bool, extents<4>, layout<pod, P<"x">>>;
  const device_pool pool{pod{}};
  const bool first[] = {true, false}, second[] = {false, false};
  const std::vector<std::span<const bool>> all{first, first, second, second};
  const std::vector<std::span<const bool>> differing{first, second, second, second};
  const auto host = to_host(from_shards<B>(pool, all));
  REQUIRE((host(0) && !host(1) && !host(2) && !host(3)));
  REQUIRE_THROWS_WITH(from_shards<B>(pool, differing), contains("replicas_differ"));
}

TEST_CASE("blocks that do not make the tensor are refused by number") {
  const device_pool pool{pod{}};
  REQUIRE_THROWS_WITH(from_shards<M>(pool, blocks(3), 3, 3),
                      contains("shard_count_differs") && contains("3 where 4"));
  REQUIRE_THROWS_WITH(from_shards<M>(pool, blocks{{1, 2, 4, 5}, {3, 6}, {7}, {9}}, 3, 3),
                      contains("shard_extents_differ: a shard has exactly the extents of the part "
                               "that its device holds (shard 2, 1 where 2 is needed)"));
  REQUIRE_THROWS_WITH(
      from_shards<M>(pool, std::vector<Eigen::MatrixXf>(4, Eigen::MatrixXf::Zero(2, 2)), 3, 4),
      contains("(shard 2, dimension 0, 2 where 1 is needed)"));
  REQUIRE_THROWS_WITH(
      from_shards<M>(pool, std::vector<Eigen::MatrixXf>(4, Eigen::MatrixXf::Zero(2, 2)), 5, 4),
      contains("(shard 0, dimension 0, 2 where 3 is needed)"));
  REQUIRE_THROWS_WITH(
      from_shards<V>(pool, std::vector<Eigen::MatrixXf>(2, Eigen::MatrixXf::Zero(2, 2))),
      contains("rank_differs_from_spec") && contains("operand 0, 1 where 2"));
  REQUIRE_THROWS_WITH(from_shards<M>(pool, blocks(4)),
                      contains("dimension 1") && contains("give them after the blocks"));
  using even = on_pod<extents<dyn>, P<"y">, partial<>, exact>;
  REQUIRE_THROWS_WITH(from_shards<even>(pool, blocks{{1, 2}, {3}}),
                      contains("extent_is_not_divisible"));
  REQUIRE_THROWS_WITH(from_shards<V>(pool, blocks{{1, 2}, {3}}, -4),
                      contains("extent_is_negative"));
  REQUIRE_THROWS_WITH(from_shards(pool, blocks{{1, 2}, {3}}, {3, 1}, V::layout_type::value),
                      contains("rank_differs_from_spec"));
  const device_pool other{line{}};
  REQUIRE_THROWS_WITH(from_shards<V>(other, blocks{{1, 2}, {3}}), contains("pool_size_differs"));
}

TEST_CASE("extents beyond those of tensors are refused before parts are computed") {
  const device_pool pool{pod{}};
  const blocks four{{1}, {2}, {3}, {4}};
  for (const index_t rows : {INT64_MAX, INT64_MAX - 1}) {
    REQUIRE_THROWS_WITH(from_shards(pool, four, {rows, 2}, M::layout_type::value),
                        contains("tensor_is_too_large"));
    REQUIRE_THROWS_WITH(from_shards(pool, four, {dyn, rows}, M::layout_type::value),
                        contains("tensor_is_too_large"));
    REQUIRE_THROWS_WITH(from_shards<M>(pool, four, rows, 2), contains("tensor_is_too_large"));
  }
  REQUIRE_THROWS_WITH(from_shards(pool, four, {INT64_MIN, 2}, M::layout_type::value),
                      contains("extent_is_negative"));
}

TEST_CASE("a failed tensor leaves no memory charged") {
  const device_pool pool{pod{}};
  REQUIRE_THROWS_AS(from_shards<V>(pool, blocks{{1, 2}, {3}, {1, 2}, {4}}), error);
  pool.reset_counters();
  REQUIRE(pool.counters().peak_bytes_per_device() == 0);
}

TEST_CASE("loading shards gives a new tensor of the same type") {
  const device_pool pool{pod{}};
  const V x = from_shards<V>(pool, blocks{{1, 2}, {3}});
  const V y = load_local_shards(x, blocks{{4, 5}, {6}, {4, 5}, {6}});
  REQUIRE(values(y) == std::vector<float>{4, 5, 6});
  REQUIRE(values(x) == std::vector<float>{1, 2, 3});
  REQUIRE(values(load_local_shards(y, shards(x))) == values(x));
  REQUIRE(values(load_local_shards(any_tensor<float>(x), shards(y))) == values(y));
  const V like_an_expression = load_local_shards(x * 2.0F, shards(y));
  REQUIRE(values(like_an_expression) == values(y));

  const std::string count = "shard_count_differs";
  REQUIRE_THROWS_WITH(load_local_shards(x, blocks{{4, 5}, {6}, {4, 5}}),
                      contains(count) && contains("3 where 4"));
  REQUIRE_THROWS_WITH(load_local_shards(x, blocks{{4, 5}, {6}}), contains(count));
  REQUIRE_THROWS_WITH(load_local_shards(x, blocks{{4, 5}, {6}, {4, 5}, {6, 7}}),
                      contains("shard_extents_differ") && contains("shard 3"));
  const any_tensor<float> replicated = zeros<R>(pool, 1);
  REQUIRE_THROWS_WITH(load_local_shards(replicated, blocks(4, {1, 2, 3})),
                      contains("tensor_is_replicated"));
}

TEST_CASE("the batches of hosts become one tensor, and each device has its host's rows") {
  using X = sharded_tensor<float, extents<dyn, 2>, layout<line, P<"x", none>>>;
  const device_pool pool{line{}};
  const auto batch = [](float first) {
    std::vector<float> rows(16);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = first + static_cast<float>(i);
    return rows;
  };
  const X x = from_host_batches<X>(pool, blocks{batch(0), batch(100)});
  REQUIRE(x.extents() == extents_desc{16, 2});
  REQUIRE(local(x, 4).elements()[0] == 100.0F);
  REQUIRE(local(x, 4).extents() == extents_desc{2, 2});
  std::vector<float> wanted = batch(0);
  for (float value : batch(100)) wanted.push_back(value);
  REQUIRE(values(x) == wanted);
  // Matrices in either storage order, and a run-time layout.
  std::vector<Eigen::MatrixXf> matrices;
  for (float first : {0.0F, 100.0F}) {
    matrices.emplace_back(8, 2);
    for (int i = 0; i < 16; ++i) matrices.back()(i / 2, i % 2) = first + static_cast<float>(i);
  }
  REQUIRE(values(from_host_batches<X>(pool, matrices)) == wanted);
  REQUIRE(values(from_host_batches(pool, matrices, {16, dyn}, X::layout_type::value)) == wanted);
  REQUIRE(values(from_host_batches(pool, matrices, {16, dyn}, spec_desc{{"x", ""}})) == wanted);

  REQUIRE_THROWS_WITH(from_host_batches<X>(pool, blocks(2, std::vector<float>(12))),
                      contains("host_batch_is_not_divisible: a per-host batch is divisible by the "
                               "parts that the devices of a host hold (dimension 0, 6 into 4 equal "
                               "parts)"));
  REQUIRE_THROWS_WITH(from_host_batches<X>(pool, blocks(3, std::vector<float>(16))),
                      contains("hosts_are_not_alike") && contains("8 into 3 equal parts"));
  REQUIRE_THROWS_WITH(
      from_host_batches<X>(pool, blocks{std::vector<float>(16), std::vector<float>(8)}),
      contains("host_size_differs") && contains("host 1, 8 where 16"));
  matrices[1].conservativeResize(4, 2);
  REQUIRE_THROWS_WITH(from_host_batches<X>(pool, matrices),
                      contains("host 1, dimension 0, 4 where 8"));
  using fixed = sharded_tensor<float, extents<32, 2>, layout<line, P<"x", none>>>;
  REQUIRE_THROWS_WITH(
      from_host_batches<fixed>(pool, std::vector<Eigen::MatrixXf>(2, Eigen::MatrixXf::Zero(8, 2))),
      contains("host_size_differs") && contains("dimension 0, 16 where 32"));
  using short_rows =
      sharded_tensor<float, extents<3, 2>, layout<line, P<"x", none>, partial<>, uneven>>;
  REQUIRE_THROWS_WITH(from_host_batches<short_rows>(pool, blocks{{1, 2, 3, 4, 5, 6}}),
                      contains("host_batch_is_not_divisible") && contains("3 into 8"));
  REQUIRE_THROWS_WITH(
      from_host_batches<X>(pool, std::vector<Eigen::MatrixXf>(2, Eigen::MatrixXf::Zero(8, 3))),
      contains("dimension 1, 3 where 2"));
  REQUIRE_THROWS_WITH(from_host_batches(pool, matrices, {dyn}, layout_desc{{axis_list{}}}),
                      contains("rank_differs_from_spec"));
}

TEST_CASE("hosts along an axis that does not split the batch give the same rows") {
  using X = on_pod<extents<dyn, 2>, P<"y", none>>;
  const device_pool pool{pod{}};
  const blocks same{{1, 2, 3, 4}, {1, 2, 3, 4}};
  REQUIRE(values(from_host_batches<X>(pool, same)) == std::vector<float>{1, 2, 3, 4});
  REQUIRE_THROWS_WITH(from_host_batches<X>(pool, blocks{{1, 2, 3, 4}, {1, 2, 3, 5}}),
                      contains("replicas_differ") && contains("host 1 holds the rows of host 0"));
}

TEST_CASE("batches of hosts are cut into contiguous parts without halos") {
  const device_pool pool{line{}};
  const blocks batches(2, std::vector<float>(16));
  const auto refuses = [&](const spec_desc& spec, const std::string& dimension) {
    REQUIRE_THROWS_WITH(from_host_batches(pool, batches, {dyn, 2}, spec, uneven{}),
                        contains("host_batch_is_not_contiguous: a per-host batch is cut into "
                                 "contiguous parts (dimension " +
                                 dimension + ")"));
  };
  using X = sharded_tensor<float, extents<dyn, 2>, layout<line, P<cyclic("x"), none>>>;
  REQUIRE_THROWS_WITH(from_host_batches<X>(pool, batches),
                      contains("host_batch_is_not_contiguous") && contains("dimension 0"));
  refuses({{"x%2", ""}}, "0");
  refuses({{"x*2", ""}}, "0");
  refuses({{"x~1:1", ""}}, "0");
  refuses({{"", "x%1"}}, "1");
}

TEST_CASE("extents of batches are judged before their elements are counted") {
  const device_pool pool{line{}};
  const blocks batches(2, std::vector<float>(16));
  constexpr index_t huge = index_t{1} << 40;
  REQUIRE_THROWS_WITH(from_host_batches(pool, batches, {huge << 22, 4}, spec_desc{{"x", ""}}),
                      contains("tensor_is_too_large"));
  REQUIRE_THROWS_WITH(
      from_host_batches(pool, blocks(2), {dyn, huge, huge}, spec_desc{{"x", "", ""}}),
      contains("tensor_is_too_large"));
  REQUIRE_THROWS_WITH(from_host_batches(pool, batches, {-8, 4}, spec_desc{{"x", ""}}),
                      contains("extent_is_negative"));
}

TEST_CASE("a layout that is a value is judged before blocks are looked at") {
  const device_pool pool{pod{}};
  const layout_desc strange{{axis_list{2}, axis_list{}}};
  const blocks four(4, {1, 2});
  REQUIRE_THROWS_WITH(from_shards(pool, four, {2, 2}, strange), contains("axis_is_not_in_mesh"));
  REQUIRE_THROWS_WITH(from_host_batches(pool, four, {2, 2}, strange),
                      contains("axis_is_not_in_mesh"));
}

TEST_CASE("a tensor from shards meets numbers, whichever header is included first") {
  const device_pool pool{pod{}};
  const auto x = from_shards<V>(pool, blocks{{1, 2}, {3}});
  REQUIRE(values(x * 2.0F + 1) == std::vector<float>{3, 5, 7});
}
