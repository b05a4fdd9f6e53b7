// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/runtime/any_manual.hpp>
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <list>
#include <numeric>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using M = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<"data", "model">>>;
using V = sharded_tensor<std::int64_t, extents<dyn>,
                         layout<pod, P<by("model", "data")>, partial<>, uneven>>;

std::vector<float> counting(std::size_t n) {
  std::vector<float> all(n);
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}

template <class X>
std::vector<typename X::value_type> values(const X& x) {
  const auto host = to_host(x);
  return {host.elements().begin(), host.elements().end()};
}

}  // namespace

TEST_CASE("row-major elements are spread, and one dyn extent is inferred") {
  const device_pool pool{pod{}};
  const M x = distribute<M>(pool, counting(24));
  REQUIRE(x.extents() == extents_desc{6, 4});
  REQUIRE(values(x) == counting(24));
  REQUIRE(values(distribute<M>(pool, counting(24), 6)) == counting(24));
}

TEST_CASE("host data takes no memory of the devices before it is distributed") {
  const device_pool pool{pod{}};
  const std::vector<float> host = counting(24);
  REQUIRE(pool.counters().peak_bytes_per_device() == 0);
  const M x = distribute<M>(pool, host);
  REQUIRE(pool.counters().peak_bytes_per_device() == 24);
}

TEST_CASE("elements that do not make the tensor are refused with both sizes") {
  const device_pool pool{pod{}};
  REQUIRE_THROWS_WITH(distribute<M>(pool, counting(10)),
                      contains("host_size_differs") && contains("10 where 8"));
  REQUIRE_THROWS_WITH(distribute<M>(pool, counting(24), 4), contains("24 where 16"));
  REQUIRE_THROWS_WITH(distribute<M>(pool, counting(12)),
                      contains("extent_is_not_divisible") && contains("data"));
  REQUIRE_THROWS_AS(zeros<M>(pool, -2), error);
  REQUIRE_THROWS_WITH(zeros<M>(pool, index_t{1} << 62U), contains("tensor_is_too_large"));
  REQUIRE_THROWS_WITH(distribute<M>(pool, std::vector<float>{}, index_t{1} << 62U),
                      contains("tensor_is_too_large"));
  REQUIRE_THROWS_WITH(zeros<V>(pool, -1),
                      contains("extent_is_negative") && contains("dimension 0, -1 where 0"));
}

TEST_CASE("layouts that are values are judged before anything is made from them") {
  const device_pool pool{pod{}};
  const std::vector<float> host = counting(4);
  const auto spread = [&](const extents_desc& extents, const layout_desc& how) {
    return distribute(pool, std::span<const float>(host), extents, how);
  };
  layout_desc twice;
  twice.dims = {axis_list{0}, axis_list{0}};
  REQUIRE_THROWS_WITH(spread({2, 2}, twice), contains("axis_is_used_twice") && contains("'data'"));
  layout_desc strange;
  strange.dims = {axis_list{2}, axis_list{}};
  REQUIRE_THROWS_WITH(spread({2, 2}, strange), contains("axis_is_not_in_mesh"));
  layout_desc rows;
  rows.dims = {axis_list{0}, axis_list{}};
  REQUIRE_THROWS_WITH(spread({dyn, 0}, rows), contains("extent_is_negative"));
  const any_tensor<float> x = spread({2, 2}, rows);
  REQUIRE(values(x) == host);
  REQUIRE_THROWS_WITH(reshard(x, twice), contains("axis_is_used_twice"));
  REQUIRE_THROWS_WITH(reshard(x, spec_desc{{"data", "", "", "", "", "", "", "", ""}}),
                      contains("rank_is_too_high") && contains("(dimension 8)"));
  REQUIRE_THROWS_WITH(disable_manual_sharding(enable_manual_sharding(x), twice),
                      contains("axis_is_used_twice"));
  REQUIRE(disable_manual_sharding(enable_manual_sharding(x), spec_desc{{"data", ""}}).layout() ==
          rows);
  const any_tensor<float> whole = reshard(x, spec_desc{{"", ""}});
  REQUIRE_THROWS_WITH(disable_manual_sharding(whole, spec_desc{{"data", ""}}),
                      contains("axis_is_not_manual") && contains("'data'"));
  REQUIRE(disable_manual_sharding(whole, spec_desc{{"", ""}}).layout() == whole.layout());
  REQUIRE_THROWS_WITH(
      reduce(reduction::sum, x, over{0, 2}),
      contains("dimension_is_out_of_range") && contains("2 where at least -2 and less than 2"));
}

TEST_CASE("extents and a spec that only the run knows spread host data") {
  const device_pool pool{pod{}};
  const std::vector<float> host = counting(24);
  const auto x = distribute<float>(pool, host, {6, 4}, spec_desc{{"data", "model"}});
  REQUIRE(x.tensor() == any_tensor<float>(distribute<M>(pool, host)).tensor());
  REQUIRE(values(x) == host);
  const auto rows = distribute<float>(pool, host, {4, 6}, {{"model", ""}});
  REQUIRE(rows.layout() == layout_of(pool.mesh(), {{"model", ""}}));
  REQUIRE(values(distribute<float>(pool, host, {6, 4}, x.layout())) == host);
  REQUIRE_THROWS_WITH(distribute<float>(pool, host, {6, 4}, spec_desc{{"data", "modle"}}),
                      contains("axis_is_not_in_mesh") && contains("modle"));
  REQUIRE_THROWS_WITH(distribute<float>(pool, host, {6, 4}, spec_desc{{"data,model", ""}}),
                      contains("extent_is_not_divisible") && contains("6 into 4"));
  const auto ragged = distribute<float>(pool, host, {6, 4}, {{"data,model", ""}}, uneven{});
  REQUIRE(ragged.layout() == layout_of(pool.mesh(), {{"data,model", ""}}, {}, uneven{}));
  REQUIRE(values(ragged) == host);
  REQUIRE_THROWS_WITH(distribute<float>(pool, host, {6, 4}, spec_desc{{"data"}}),
                      contains("rank_differs_from_spec"));
}

TEST_CASE("Eigen matrices of either order, blocks, and expressions are spread") {
  const device_pool pool{pod{}};
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows =
      Eigen::Map<const Eigen::Matrix<float, 6, 4, Eigen::RowMajor>>(counting(24).data());
  const Eigen::MatrixXf columns = rows;
  REQUIRE(values(distribute<M>(pool, rows)) == counting(24));
  REQUIRE(values(distribute<M>(pool, columns)) == counting(24));
  Eigen::MatrixXf larger = Eigen::MatrixXf::Zero(8, 9);
  larger.block(1, 2, 6, 4) = rows;
  REQUIRE(values(distribute<M>(pool, larger.block(1, 2, 6, 4))) == counting(24));
  REQUIRE(values(distribute<M>(pool, (columns * 2.0F).eval()))[5] == 10.0F);
  REQUIRE(values(distribute<M>(pool, columns * 2.0F))[5] == 10.0F);
  REQUIRE(values(distribute<M>(pool, columns.array() + 1.0F))[5] == 6.0F);
  const Eigen::ArrayXf array = Eigen::ArrayXf::LinSpaced(4, 1, 4);
  using R = sharded_tensor<float, extents<4>, layout<pod, P<"data">>>;
  REQUIRE(values(distribute<R>(pool, array)) == std::vector<float>{1, 2, 3, 4});
  REQUIRE_THROWS_AS(distribute<M>(pool, larger), error);
  const Eigen::MatrixXf back = to_host(distribute<M>(pool, columns));
  REQUIRE(back == columns);
}

TEST_CASE("nested ranges and single ranges are spread, and ragged ones are refused") {
  const device_pool pool{pod{}};
  const std::vector<std::vector<float>> rows{{0, 1, 2, 3}, {4, 5, 6, 7}};
  REQUIRE(values(distribute<M>(pool, rows)) == counting(8));
  const std::vector<std::vector<float>> ragged{{0, 1, 2, 3}, {4, 5, 6}};
  REQUIRE_THROWS_WITH(distribute<M>(pool, ragged),
                      contains("dimension 1") && contains("3 where 4"));
  REQUIRE(values(distribute<V>(pool, std::list<int>{5, 6, 7})) ==
          std::vector<std::int64_t>{5, 6, 7});
}

TEST_CASE("values and counts become elements, and random tensors hold the numbers of their key") {
  using I = sharded_tensor<std::int32_t, extents<dyn, 4>, layout<pod, P<"data", "model">>>;
  const device_pool pool{pod{}};
  REQUIRE(values(full<I>(pool, 3L, 2)) == std::vector<std::int32_t>(8, 3));
  REQUIRE(values(full<M>(pool, 0.5, 2)) == std::vector<float>(8, 0.5F));
  REQUIRE(values(ones<I>(pool, 2)) == std::vector<std::int32_t>(8, 1));
  REQUIRE(values(iota<M>(pool, 6)) == counting(24));
  const std::vector<float> even = values(uniform<M>(pool, random_key{1}, 6));
  const std::vector<float> bell = values(normal<M>(pool, random_key{1}, 6));
  for (int i = 0; i < 24; ++i) {
    REQUIRE(even[static_cast<std::size_t>(i)] == uniform<float>(random_key{1}, i));
    REQUIRE(bell[static_cast<std::size_t>(i)] == normal<float>(random_key{1}, i));
  }
}

TEST_CASE("numbers in braces are spread, one level a dimension") {
  using R = sharded_tensor<float, extents<2, 4>, layout<pod, P<"data", none>>>;
  using C = sharded_tensor<float, extents<dyn, 2, 2>, layout<pod, P<none, "data", none>>>;
  const device_pool pool{pod{}};
  REQUIRE(values(distribute<V>(pool, {5, 6, 7})) == std::vector<std::int64_t>{5, 6, 7});
  REQUIRE(values(distribute<R>(pool, {{0, 1, 2, 3}, {4, 5, 6, 7}})) == counting(8));
  REQUIRE(values(distribute<C>(pool, {{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}})) == counting(8));
  const auto named = {std::int64_t{1}, std::int64_t{2}};
  REQUIRE(values(distribute<V>(pool, named)) == std::vector<std::int64_t>{1, 2});
  REQUIRE_THROWS_WITH(distribute<R>(pool, {{0, 1, 2, 3}, {4, 5}}),
                      contains("host_size_differs") && contains("2 where 4"));
  REQUIRE_THROWS_WITH(distribute<R>(pool, {{0, 1, 2, 3}}), contains("1 where 2"));
  const use_mesh here(pool);
  REQUIRE(values(distribute<V>({5, 6, 7})) == std::vector<std::int64_t>{5, 6, 7});
}

TEST_CASE("a mask of bools makes ones and zeros") {
  const device_pool pool{pod{}};
  REQUIRE(values(distribute<V>(pool, std::vector<bool>{true, false, true})) ==
          std::vector<std::int64_t>{1, 0, 1});
}

TEST_CASE("truth values come from lists, masks and memory") {
  using B = sharded_tensor<bool, extents<dyn>, layout<pod, P<"data">, partial<>, uneven>>;
  const device_pool pool{pod{}};
  const std::vector<bool> mask{true, false, true};
  const bool memory[] = {true, false, true};
  REQUIRE(values(distribute<B>(pool, {true, false, true})) == mask);
  REQUIRE(values(distribute<B>(pool, mask)) == mask);
  REQUIRE(values(distribute<B>(pool, memory)) == mask);
  using R = sharded_tensor<bool, extents<2, 2>, layout<pod, P<none, "data">>>;
  REQUIRE(values(distribute<R>(pool, {{true, false}, {false, true}})) ==
          std::vector<bool>{true, false, false, true});
}

TEST_CASE("a matrix is no vector, and the refusal says how many dimensions came") {
  using L = sharded_tensor<float, extents<dyn>, layout<pod, P<none>>>;
  const device_pool pool{pod{}};
  REQUIRE_THROWS_WITH(distribute<L>(pool, Eigen::MatrixXf(6, 5)),
                      contains("host_rank_differs") && contains("2 where 1 is needed"));
  REQUIRE(distribute<L>(pool, Eigen::MatrixXf(6, 1)).extents() == extents_desc{6});
}

TEST_CASE("a callback is asked once for each element of each distinct shard, by global index") {
  using R = sharded_tensor<float, extents<3, 4>, layout<pod, P<none, "model">>>;
  const device_pool pool{pod{}};
  std::atomic<int> calls{0};
  const R x = distribute<R>(pool, [&](const global_index& at) {
    ++calls;
    return static_cast<float>(at[0] * 4 + at[1]);
  });
  REQUIRE(calls == 12);
  REQUIRE(values(x) == counting(12));
}

TEST_CASE("factories fill, count, and give the same random bits under every layout on every mesh") {
  const device_pool pool{pod{}};
  REQUIRE(values(full<M>(pool, 7.0F, 2)) == std::vector<float>(8, 7.0F));
  REQUIRE(values(zeros<M>(pool, 2)) == std::vector<float>(8, 0.0F));
  REQUIRE(values(ones<M>(pool, 2)) == std::vector<float>(8, 1.0F));
  REQUIRE(values(iota<M>(pool, 6)) == counting(24));

  struct line : mesh<axis<"x", 3>> {};
  struct dot : mesh<axis<"x", 1>> {};
  using A =
      sharded_tensor<float, extents<7, 5>, layout<pod, P<"model", "data">, partial<>, uneven>>;
  using B = sharded_tensor<float, extents<7, 5>, layout<line, P<none, "x">, partial<>, uneven>>;
  using C = sharded_tensor<float, extents<7, 5>, layout<dot, P<none, none>>>;
  const device_pool three{line{}};
  const device_pool one{dot{}};
  REQUIRE(values(normal<A>(pool, random_key{42})) == values(normal<C>(one, random_key{42})));
  REQUIRE(values(normal<B>(three, random_key{42})) == values(normal<C>(one, random_key{42})));
  REQUIRE(values(uniform<A>(pool, random_key{42})) == values(uniform<B>(three, random_key{42})));
  REQUIRE(values(uniform<A>(pool, random_key{42})) != values(uniform<A>(pool, random_key{43})));
}

TEST_CASE("a value that is made pending is the term of the first device, of no other") {
  const device_pool pool{pod{}};
  using S = sharded_tensor<float, extents<>, layout<pod, P<>, partial<"data">>>;
  const S one = full<S>(pool, 1.0F);
  using T = sharded_tensor<float, extents<2, 2>, layout<pod, P<none, none>, partial<"data">>>;
  const T four = distribute<T>(pool, counting(4));
  const auto terms = [](const auto& x, index_t device) {
    const auto part = local(x, device);
    return std::vector<float>(part.elements().begin(), part.elements().end());
  };
  for (index_t model = 0; model < 2; ++model) {
    REQUIRE(terms(one, model) == std::vector<float>{1});
    REQUIRE(terms(one, 2 + model) == std::vector<float>{0});
    REQUIRE(terms(four, model) == counting(4));
    REQUIRE(terms(four, 2 + model) == std::vector<float>(4, 0.0F));
  }
  // Terms are divided as the value is, and the value comes back from any layout.
  REQUIRE(values(reshard<P<>>(one / 2.0F)) == std::vector<float>{0.5F});
  REQUIRE(values(reshard<P<"model", "data">>(four)) == counting(4));
}

TEST_CASE("what a factory makes has the parts of its layout") {
  struct line : mesh<axis<"x", 4>> {};
  const device_pool pool{line{}};
  using Q = sharded_tensor<float, extents<32, 3>, layout<line, P<"x", none>>>;
  for (index_t d = 0; d < 4; ++d) {
    REQUIRE(local(ones<Q>(pool), d).extents() == extents_desc{8, 3});
    REQUIRE(local(zeros<Q>(pool), d).extents() == extents_desc{8, 3});
    REQUIRE(local(full<Q>(pool, 2.5F), d).elements()[23] == 2.5F);
  }
  // A size that the axis does not divide is an error, unless the layout is uneven.
  const spec_desc columns{{"", "x"}};
  REQUIRE(local(zeros<float>(pool, extents_desc{12, 8}, columns), 3).extents() ==
          extents_desc{12, 2});
  REQUIRE_THROWS_WITH(zeros<float>(pool, extents_desc{12, 7}, columns),
                      Catch::Contains("extent_is_not_divisible"));
  const layout_desc uneven_columns = layout_of(line::value, columns, {}, uneven{});
  REQUIRE(local(zeros<float>(pool, extents_desc{12, 7}, uneven_columns), 3).extents() ==
          extents_desc{12, 1});
  // Every dimension of a tensor has an entry.
  REQUIRE_THROWS_WITH(zeros<float>(pool, extents_desc{12, 8}, spec_desc{{"x"}}),
                      Catch::Contains("rank_differs_from_spec"));
}

TEST_CASE("a tensor wants a pool of its own mesh") {
  const device_pool other(mesh_desc{{axis_desc{"data", 2}, axis_desc{"model", 4}}});
  REQUIRE_THROWS_WITH(zeros<M>(other, 4), contains("pool_size_differs") && contains("model"));
  const device_pool count(4);
  REQUIRE_THROWS_WITH(
      zeros<M>(count, 4),
      contains("pool_size_differs") && contains("the pool has mesh(devices=4), the tensor "));
}
