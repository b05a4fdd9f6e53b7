// SPDX-License-Identifier: BSL-1.0
// Contractions that add products in a wider element type than that of their operands.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstdint>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;

}  // namespace

TEST_CASE("a sum of products is added in the element type that is given") {
  const device_pool pool(pod{}, 2);
  // 300 products of 1 and 1: more than bf16 counts to, and more than i8 holds.
  using X = tensor<bfloat16, P<"data", "model">, 4, 300>;
  using W = tensor<bfloat16, P<"model", none>, 300, 2>;
  const auto x = ones<X>(pool);
  const auto w = ones<W>(pool);
  const auto y = einsum<"bi,io->bo", float>(x, w, as<P<"data", none>>);
  CHECK(to_host(y)(3, 1) == 300.0F);
  CHECK(to_host(reshard<P<>>(einsum<"bi->", float>(x)))() == 1200.0F);
  const auto written = to_host(reshard<P<"data", none>>(einsum<"bi,io->bo">(x, w)));
  CHECK(to_host(reshard<P<"data", none>>(einsum<"bi, io">(x, w))) == written);
  CHECK(to_host(einsum<"bi, io -> bo">(x, w, as<P<"data", none>>)) == written);
  const any_tensor ax = x, aw = w;
  CHECK(to_host(reshard(einsum("bi, io", ax, aw), spec_desc{{"data", ""}})) == written);

  using A = tensor<std::int8_t, P<"data", "model">, 4, 300>;
  const auto a = ones<A>(pool);
  const auto squares = einsum<"bi,bi->b", std::int32_t>(a, a, as<P<"data">>);
  CHECK(to_host(squares)(2) == 300);
  // Three operands, and an ellipsis.
  const auto chain =
      einsum<"...i,io,...i->...o", double>(x, reshard<P<"model", none>>(w), x, as<P<"data", none>>);
  STATIC_REQUIRE(std::is_same_v<decltype(chain)::value_type, double>);
  CHECK(to_host(chain)(1, 1) == 300.0);
}

TEST_CASE("a sum of products with a run-time layout is added in the element type that is given") {
  const device_pool pool(pod{}, 2);
  const any_tensor<std::int8_t> a = ones<tensor<std::int8_t, P<"data", "model">, 4, 300>>(pool);
  const any_tensor<std::int32_t> rows = einsum<std::int32_t>("bi,bi->b", a, a);
  CHECK(to_host(reshard(rows, spec_desc{{"data"}})).elements()[2] == 300);
  const any_tensor<std::int32_t> same = einsum<std::int32_t>("b->b", rows);
  CHECK(to_host(reshard(same, spec_desc{{""}})).elements()[0] == 300);
  const any_tensor<std::int32_t> placed =
      einsum<std::int32_t>("bi,bi->b", a, a, out_sharding(spec_desc{{""}}));
  CHECK(to_host(placed).elements()[3] == 300);
  const any_tensor<std::int32_t> typed = einsum<"bi,bi->b", std::int32_t>(a, a);
  CHECK(to_host(reshard(typed, spec_desc{{""}})).elements()[1] == 300);
}

TEST_CASE("a gradient through a wider sum has the element types of the operands") {
  const device_pool pool(pod{}, 2);
  const auto x = full<tensor<bfloat16, P<"data", "model">, 4, 6>>(pool, bfloat16(2.0F));
  const auto w = full<tensor<bfloat16, P<"model", none>, 6, 2>>(pool, bfloat16(3.0F));
  const auto slopes = gradient([](const auto& u, const auto& v) {
    return sum(einsum<"bi,io->bo", float>(u, v, as<P<"data", none>>));
  })(x, w);
  STATIC_REQUIRE(std::is_same_v<decltype(slopes)::value_type, bfloat16>);
  CHECK(static_cast<float>(to_host(slopes)(0, 5)) == 6.0F);
}
