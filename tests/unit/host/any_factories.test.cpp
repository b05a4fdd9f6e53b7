// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 12>, layout<pod, P<"data", "model">>>;
using rows = sharded_tensor<float, extents<dyn, 12>, layout<pod, P<"data", none>>>;

const extents_desc shape{8, 12};
const spec_desc split{{"data", "model"}};

/// Compares a tensor with a run-time layout with a typed one.
template <class Any, class Typed>
void require_same(const Any& any, const Typed& typed) {
  REQUIRE(any.tensor() == typed.share()->tensor());
  REQUIRE(to_host(any) == to_host(any_tensor<typename Typed::value_type>(typed)));
}

}  // namespace

TEST_CASE("what is made with a layout that is a value is what its type makes") {
  const device_pool pool{pod{}};
  require_same(full<float>(pool, 0.5F, shape, split), full<X>(pool, 0.5F));
  require_same(full<float>(pool, 2, shape, X::layout_type::value), full<X>(pool, 2));
  require_same(zeros<float>(pool, shape, split), zeros<X>(pool));
  require_same(ones<float>(pool, shape, split), ones<X>(pool));
  require_same(iota<float>(pool, shape, split), iota<X>(pool));
  require_same(eye<float>(pool, shape, split), eye<X>(pool));
  require_same(uniform<float>(pool, random_key{7}, shape, split), uniform<X>(pool, random_key{7}));
  require_same(normal<float>(pool, random_key{7}, shape, split), normal<X>(pool, random_key{7}));
  const auto place = [](const global_index& at) { return static_cast<float>(100 * at[0] + at[1]); };
  require_same(generate<float>(pool, place, shape, split), generate<X>(pool, place));
  using W = sharded_tensor<std::int32_t, extents<8, 12>, X::layout_type>;
  require_same(iota<std::int32_t>(pool, shape, split), iota<W>(pool));
}

TEST_CASE("identity matrices, numbers at equal distances, and tensors like others") {
  const device_pool pool{pod{}};
  const auto one = to_host(eye<X>(pool));
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 12; ++j) REQUIRE(one(i, j) == (i == j ? 1 : 0));
  using stack = sharded_tensor<bool, extents<3, 4, 4>, layout<pod, P<none, "data", "model">>>;
  REQUIRE(to_host(eye<stack>(pool))(2, 3, 3));
  REQUIRE(!to_host(eye<stack>(pool))(2, 3, 2));
  REQUIRE_THROWS_WITH(eye<float>(pool, extents_desc{8}, spec_desc{{"data"}}),
                      contains("operand_rank_differs"));
  // What the dictionary says of arange, linspace and full_like.
  using line = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;
  const auto counted = to_host(5 + iota<line>(pool) * 2);
  const auto spaced = to_host(-1 + iota<line>(pool) * (2.0F / 7));
  REQUIRE(counted(7) == 19);
  REQUIRE(spaced(0) == -1);
  REQUIRE(spaced(7) == Approx(1));
  const auto like = full_like(log(iota<line>(pool) - 1), 2);
  STATIC_REQUIRE(std::is_same_v<decltype(like)::layout_type, line::layout_type>);
  for (int i = 0; i < 8; ++i) REQUIRE(to_host(like)(i) == 2);
}

TEST_CASE("without a pool a tensor is made in that of the scope") {
  use_mesh here(pod{});
  require_same(full<float>(0.5F, shape, split), full<X>(0.5F));
  require_same(zeros<float>(shape, split), zeros<X>());
  require_same(ones<float>(shape, split), ones<X>());
  require_same(iota<float>(shape, split), iota<X>());
  require_same(eye<float>(shape, split), eye<X>());
  require_same(uniform<float>(random_key{7}, shape, split), uniform<X>(random_key{7}));
  require_same(normal<float>(random_key{7}, shape, split), normal<X>(random_key{7}));
  const auto place = [](const global_index& at) { return static_cast<float>(at[1]); };
  require_same(generate<float>(place, shape, split), generate<X>(place));
}

TEST_CASE("a layout that is a value is checked where a tensor is made") {
  const device_pool pool{pod{}};
  const extents_desc odd{7, 12};
  REQUIRE_THROWS_WITH(zeros<float>(pool, odd, split), contains("extent_is_not_divisible"));
  const auto wrong = [&] { return zeros<float>(pool, shape, spec_desc{{"data", "modle"}}); };
  REQUIRE_THROWS_WITH(wrong(), contains("axis_is_not_in_mesh") && contains("modle"));
  REQUIRE_THROWS_WITH(full<std::int8_t>(pool, 300, shape, split),
                      contains("number_is_out_of_range"));
  const layout_desc ragged = layout_of(pod::value, split, {}, uneven{});
  REQUIRE(to_host(iota<float>(pool, odd, ragged))(6, 11) == 83.0F);
}

TEST_CASE("a tensor whose layout is a value is one of a type that says the same") {
  const device_pool pool{pod{}};
  const auto any = iota<float>(pool, shape, split);
  REQUIRE(to_host(as<X>(any)) == to_host(iota<X>(pool)));
  const auto tall = as<rows>(reshard(any, spec_desc{{"data", ""}}));
  REQUIRE(tall.extents() == shape);
  REQUIRE_THROWS_WITH(as<rows>(any), contains("tensor_type_differs") &&
                                         contains("f32[8@data, 12@model]") &&
                                         contains("try reshard<P<\"data\", none>>(x)"));
  using whole = sharded_tensor<double, extents<8, 12>, X::layout_type>;
  REQUIRE_THROWS_WITH(as<whole>(any), contains("tensor_type_differs") && contains("f64[8"));
  using longer = sharded_tensor<float, extents<16, 12>, X::layout_type>;
  REQUIRE_THROWS_WITH(as<longer>(any), contains("tensor_type_differs") && contains("f32[16@data"));
  struct line : mesh<axis<"data", 8>> {};
  using other = sharded_tensor<float, extents<8, 12>, layout<line, P<"data", none>>>;
  REQUIRE_THROWS_WITH(as<other>(any),
                      contains("operand_meshes_differ") && contains("mesh(data=8)"));
  // There is no other conversion, and none without a check.
  STATIC_REQUIRE(!std::is_constructible_v<X, const any_tensor<float>&>);
  STATIC_REQUIRE(!std::is_constructible_v<X, node_ptr>);
  STATIC_REQUIRE(!std::is_constructible_v<any_tensor<float>, node_ptr>);
}
