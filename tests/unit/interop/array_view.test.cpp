// SPDX-License-Identifier: BSL-1.0
// Arrays of other libraries as views: spans, Eigen matrices, mdspan.
#include "support/catch.hpp"
#include "support/mdspan.hpp"
#include "support/refusal.hpp"
#include <shardwise/interop.hpp>
#include <shardwise/shardwise.hpp>

#include <Eigen/Core>

#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

using namespace shardwise;
using Catch::Contains;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
using X = tensor<float, P<"data", "model">, 2, 3>;

std::vector<float> counted(index_t count) {
  std::vector<float> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0.0F);
  return all;
}

}  // namespace

TEST_CASE("the memory that strides span is counted to the last element") {
  std::vector<float> memory = counted(64);
  const auto span_of = [&](const extents_desc& extents, const extents_desc& strides) {
    return array_view<const float>(memory.data(), extents, strides).required_span();
  };
  CHECK(span_of({2, 3}, {1, 10}) == 22);
  CHECK(span_of({0, 15}, {16, 1}) == 0);
  CHECK(span_of({}, {}) == 1);
  CHECK(span_of({4, 5}, {0, 1}) == 5);
  CHECK(span_of({1, 5}, {-7, 1}) == 5);
  CHECK(span_of({3, 0}, {std::numeric_limits<index_t>::max(), 1}) == 0);
  CHECK(array_view<float>(nullptr, {0, 3}).size() == 0);

  const auto refused = [&](const extents_desc& extents, const extents_desc& strides) {
    return refusal([&] { return array_view<float>(memory.data(), extents, strides).size(); });
  };
  CHECK(refused({2, 3}, {1}) == violation::host_array_is_unusable);
  CHECK(refused({2, 3}, {-3, 1}) == violation::host_array_is_unusable);
  CHECK(refused({3, 3}, {std::numeric_limits<index_t>::max() / 2, 1}) ==
        violation::host_array_is_unusable);
  CHECK(refused({-2, 3}, {3, 1}) == violation::extent_is_negative);
  CHECK(refused({dyn, 3}, {3, 1}) == violation::extent_is_negative);
  CHECK(refused({index_t{1} << 40, index_t{1} << 40}, {0, 0}) == violation::tensor_is_too_large);
  CHECK(refusal([&] { return array_view<float>(nullptr, {1}).size(); }) ==
        violation::host_array_is_unusable);
  auto* const between = reinterpret_cast<float*>(reinterpret_cast<char*>(memory.data()) + 1);
  CHECK(refusal([&] { return array_view<float>(between, {1}).size(); }) ==
        violation::host_array_is_unusable);
  // Within some memory.
  CHECK(array_view<float>(std::span(memory).first(22), {2, 3}, {1, 10}).size() == 6);
  CHECK(refusal([&] {
          return array_view<float>(std::span(memory).first(21), {2, 3}, {1, 10}).size();
        }) == violation::host_size_differs);
  CHECK(refusal([&] {
          return array_view<float>(std::span(memory).first(5), {2, 3}).size();
        }) == violation::host_size_differs);
  CHECK(refusal([&] { return array_view<float>(std::span<float>(), {}, {}).size(); }) ==
        violation::host_array_is_unusable);
}

TEST_CASE("an array is distributed from its places, and a tensor is copied to them") {
  const device_pool pool(pod{}, 2);
  std::vector<float> memory = counted(22);
  const array_view<float> view(memory, {2, 3}, {1, 10});
  REQUIRE((view(1, 2) == 21.0F && !view.is_contiguous()));
  REQUIRE_THROWS_AS(view(2, 0), error);
  REQUIRE_THROWS_AS(view(0), error);
  const X x = distribute<X>(pool, view);
  const auto have = to_host(x);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) REQUIRE(have(i, j) == view(i, j));
  const use_mesh scope(pool);
  REQUIRE(to_host(distribute<X>(array_view<const float>(view))) == have);
  REQUIRE(to_host(distribute(pool, view, spec_desc{{"", ""}})) == have);
  REQUIRE(refusal([&] { return distribute<tensor<float, P<none>, 6>>(pool, view); }) ==
          violation::host_rank_differs);
  REQUIRE(refusal([&] { return distribute<tensor<float, P<none, none>, 3, 2>>(pool, view); }) ==
          violation::host_size_differs);

  // Repeated elements are read, and not written.
  std::vector<float> row = {5, 6, 7};
  const array_view<float> broadcast(row.data(), {2, 3}, {0, 1});
  REQUIRE(to_host(distribute<X>(pool, broadcast))(1, 2) == 7.0F);
  REQUIRE_THROWS_WITH(copy_to(x, broadcast),
                      Contains("host_array_is_unusable") && Contains("share a place"));
  REQUIRE(refusal([&] {
            copy_to(x, array_view<float>(memory.data(), {2, 3}, {1, 1}));
            return 0;
          }) == violation::host_array_is_unusable);
  REQUIRE(row == std::vector<float>{5, 6, 7});
  std::vector<float> out(30, -1.0F);
  copy_to(x * 2.0F, array_view<float>(out, {2, 3}, {1, 10}));
  REQUIRE((out[0] == 0.0F && out[1] == 2.0F && out[21] == 42.0F && out[2] == -1.0F));
  REQUIRE(refusal([&] {
            copy_to(x, array_view<float>(out, {3, 2}));
            return 0;
          }) == violation::host_size_differs);

  // Rank 0, and no elements.
  const tensor<float, P<>> scalar =
      distribute<tensor<float, P<>>>(pool, array_view<const float>(memory.data() + 3, {}, {}));
  REQUIRE(to_host(scalar).value() == 3.0F);
  copy_to(scalar, array_view<float>(out.data(), {}, {}));
  REQUIRE(out[0] == 3.0F);
  using Empty = sharded_tensor<float, extents<dyn, 3>, layout<pod, P<none, none>>>;
  const Empty empty = distribute<Empty>(pool, array_view<float>(nullptr, {0, 3}));
  REQUIRE(to_host(empty).size() == 0);
  copy_to(empty, array_view<float>(nullptr, {0, 3}));
}

TEST_CASE("spans and Eigen matrices are arrays") {
  const device_pool pool(pod{}, 2);
  const X x = iota<X>(pool);
  Eigen::MatrixXf columns = Eigen::MatrixXf::Zero(5, 7);
  auto block = columns.block(1, 2, 2, 3);
  copy_to(x, as_array(block));
  REQUIRE((columns(2, 4) == 5.0F && columns(1, 3) == 1.0F && columns(0, 0) == 0.0F));
  const auto& fixed = columns;
  REQUIRE(as_array(fixed).strides() == extents_desc{1, 5});
  static_assert(std::is_same_v<decltype(as_array(fixed))::element_type, const float>);
  Eigen::Matrix<float, 2, 3, Eigen::RowMajor> rows;
  rows << 1, 2, 3, 4, 5, 6;
  REQUIRE(as_span(as_array(rows))[4] == 5.0F);
  REQUIRE_THROWS_WITH(as_span(as_array(columns)), Contains("not contiguous and row-major"));

  const std::span<const float> whole = as_span(as_array(local(x, 1)));
  REQUIRE(std::vector<float>(whole.begin(), whole.end()) == std::vector<float>{2});
  REQUIRE(as_array(to_host(x))(1, 2) == 5.0F);  // it owns the temporary
  const auto host = to_host(x);
  REQUIRE(as_array(host).data() == host.data());
}

TEST_CASE("the view of a shard keeps its memory, and not the tensor or its pool") {
  std::optional<array_view<const float>> view;
  {
    const device_pool pool(pod{}, 2);
    X x = iota<X>(pool);
    view = as_array(local(x, 3));
    x += 100.0F;  // another memory
    REQUIRE(to_host(x)(1, 2) == 105.0F);
  }
  REQUIRE(view->extents() == extents_desc{1, 1});
  REQUIRE((*view)(0, 0) == 5.0F);
  const array_view<const float> copy = *view;
  view.reset();
  REQUIRE(copy(0, 0) == 5.0F);
}

TEST_CASE("views with the interface of mdspan are arrays, and arrays are such views") {
  using support::any_extent;
  using support::md_extents;
  const device_pool pool(pod{}, 2);
  std::vector<float> memory = counted(64);
  using Strided =
      support::mdspan<float, md_extents<int, any_extent, any_extent>, support::md_stride>;
  static_assert(StridedMdspan<Strided> && !StridedMdspan<std::vector<float>>);
  const auto strided = [&](int rows, int columns, int down, int right) {
    return Strided(memory.data(),
                   Strided::mapping_type(Strided::extents_type({rows, columns}), {down, right}));
  };
  const auto in = as_array(strided(2, 3, 1, 10));
  REQUIRE((in.required_span() == 22 && in(1, 2) == 21.0F));
  REQUIRE(to_host(distribute<X>(pool, in))(0, 1) == 10.0F);
  REQUIRE(as_array(strided(0, 15, 16, 1)).required_span() == 0);
  REQUIRE_THROWS_WITH(copy_to(iota<X>(pool), as_array(strided(2, 3, 0, 1))),
                      Contains("share a place"));
  using Scalar = support::mdspan<const float, md_extents<int>>;
  const auto scalar = as_array(Scalar(memory.data(), Scalar::mapping_type({})));
  REQUIRE((scalar.rank() == 0 && scalar.required_span() == 1));

  // Out: with strides, and with a layout that has its own.
  const auto out = as_mdspan<Strided>(in);
  REQUIRE((out.data_handle() == memory.data() && out.extent(1) == 3 && out.stride(1) == 10));
  using Right = support::mdspan<const float, md_extents<int, any_extent, 3>>;
  const X x = iota<X>(pool);
  const auto host = to_host(x);
  const auto right = as_mdspan<Right>(as_array(host));
  REQUIRE((right.extent(0) == 2 && right.stride(0) == 3 && right.data_handle()[5] == 5.0F));
  REQUIRE_THROWS_WITH(as_mdspan<Right>(array_view<const float>(in)),
                      Contains("not those of the layout"));
  REQUIRE_THROWS_WITH(as_mdspan<Strided>(array_view<float>(memory.data(), {2, 3}, {0, 1})),
                      Contains("host_array_is_unusable"));
  REQUIRE(refusal([&] {
            return as_mdspan<Right>(array_view<const float>(memory.data(), {3, 2})).extent(0);
          }) == violation::host_size_differs);
  REQUIRE(refusal([&] {
            return as_mdspan<Right>(array_view<const float>(memory.data(), {6})).extent(0);
          }) == violation::host_rank_differs);
  using Narrow = support::mdspan<const float, md_extents<signed char, any_extent>>;
  REQUIRE(refusal([&] {
            return as_mdspan<Narrow>(array_view<const float>(memory.data(), {200}, {0})).extent(0);
          }) == violation::host_size_differs);
  REQUIRE(as_mdspan<Scalar>(scalar).data_handle()[0] == 0.0F);
  const auto empty = as_mdspan<Strided>(array_view<float>(nullptr, {0, 15}));
  REQUIRE(empty.extent(0) == 0);
}
