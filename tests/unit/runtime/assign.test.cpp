// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<2, 3>, layout<pod, P<"data", none>>>;
using N = sharded_tensor<float, extents<2, 3>, rows>;
using V = sharded_tensor<float, extents<3>, layout<pod, P<none>>>;
using V2 = sharded_tensor<float, extents<2>, layout<pod, P<none>>>;
using D = sharded_tensor<float, extents<dyn, 3>, layout<pod, P<none, none>>>;
using K = sharded_tensor<std::int32_t, extents<4>, layout<pod, P<"model">>>;
using T = sharded_tensor<float, extents<2>, layout<pod, P<none>, partial<"data">>>;

template <class Tensor>
std::vector<typename Tensor::value_type> values(const Tensor& x) {
  return to_host(x).elements();
}
using floats = std::vector<float>;

/// The four compound assignments, for typed tensors and for run-time layouts.
template <class Tensor>
void assigns(const Tensor& counted) {
  Tensor x = counted;
  const Tensor before = x;
  x += 1;
  REQUIRE(values(x) == floats{1, 2, 3, 4, 5, 6});
  x *= x;
  REQUIRE(values(x) == floats{1, 4, 9, 16, 25, 36});
  x -= x * before;  // reads the old value wherever x is named
  REQUIRE(values(x) == floats{1, 0, -9, -32, -75, -144});
  Tensor& same = (x /= 0.5F) -= 2.0F;
  REQUIRE(&same == &x);
  REQUIRE(values(x) == floats{0, -2, -20, -66, -152, -290});
  // Other handles keep the old value.
  const Tensor kept = x;
  (x += x) += kept;
  REQUIRE(values(x) == floats{0, -6, -60, -198, -456, -870});
  REQUIRE(values(kept) == floats{0, -2, -20, -66, -152, -290});
  REQUIRE(values(before) == floats{0, 1, 2, 3, 4, 5});
}

}  // namespace

TEST_CASE("a tensor is assigned what is made of it, and other handles keep the old value") {
  const device_pool pool{pod{}};
  assigns(iota<X>(pool));
  assigns(iota<N>(pool));
  assigns(any_tensor<float>(iota<X>(pool)));
}

TEST_CASE("smaller operands, numbers, expressions and tensors with types stand on the right") {
  const device_pool pool{pod{}};
  X x = iota<X>(pool);
  x -= iota<V>(pool);
  REQUIRE(values(x) == floats{0, 0, 0, 3, 3, 3});
  x += iota<V>(pool) * 2.0F + x;
  REQUIRE(values(x) == floats{0, 2, 4, 6, 8, 10});
  any_tensor<float> untyped = x;
  untyped -= x * 0.5F;
  untyped -= iota<V>(pool);
  REQUIRE(values(untyped) == floats{0, 0, 0, 3, 3, 3});
  K counts = iota<K>(pool);
  counts *= 3;
  counts /= 2;
  REQUIRE(values(counts) == std::vector<std::int32_t>{0, 1, 3, 4});
}

TEST_CASE("a pending sum that is assigned stays pending") {
  const device_pool pool{pod{}};
  T terms = iota<T>(pool);
  terms += terms;
  terms *= 3.0F;
  terms -= iota<T>(pool);
  REQUIRE(terms.share()->tensor().layout.pending != 0);
  REQUIRE(values(reshard<P<none>>(terms)) == floats{0, 5});

  any_tensor<float> untyped = terms;
  untyped /= 5;
  REQUIRE_THROWS_WITH(untyped += 1, contains("pending_axes_differ"));
  REQUIRE(values(reshard(untyped, spec_desc{{""}})) == floats{0, 1});
}

TEST_CASE("a value of other extents or another layout is refused") {
  const device_pool pool{pod{}};
  D one = ones<D>(pool, 1);
  const D three = ones<D>(pool, 3);
  // A dyn extent is never broadcast, so no extent changes.
  REQUIRE_THROWS_WITH(one += three, contains("operand_sizes_differ"));
  REQUIRE(values(one) == floats{1, 1, 1});
  one += one;
  REQUIRE(values(one) == floats{2, 2, 2});

  any_tensor<float> row = iota<V>(pool);
  REQUIRE_THROWS_WITH(
      row += iota<X>(pool),
      contains("tensor_type_differs: a tensor is initialised and assigned by tensors "
               "of its own elements, extents and layout; f32[3] would be "
               "f32[2@data, 3]"));
  any_tensor<float> whole = ones<D>(pool, 2);
  REQUIRE_THROWS_WITH(whole *= iota<X>(pool), contains("f32[2, 3] would be f32[2@data, 3]"));
  REQUIRE(values(whole) == floats(6, 1.0F));
  REQUIRE_THROWS_WITH(whole += iota<V2>(pool), contains("operand_sizes_differ"));
}

TEST_CASE("a name takes what its type says, whatever the name of the layout") {
  const device_pool pool(pod{});
  const X x = ones<X>(pool);
  N y = x;
  REQUIRE(values(y) == floats(6, 1.0F));
  y = x + x;
  REQUIRE(values(y) == floats(6, 2.0F));
  const X back = y;
  REQUIRE(values(back) == floats(6, 2.0F));
}

TEST_CASE("a name takes values of another policy if nothing is split") {
  const device_pool pool(pod{});
  using uneven_rows =
      sharded_tensor<float, extents<3, 2>, layout<pod, P<"data", none>, partial<>, uneven>>;
  using row = sharded_tensor<float, extents<2>, layout<pod, P<none>>>;
  const uneven_rows x = ones<uneven_rows>(pool);
  const row sums = reshard<P<none>>(sum<0>(x));
  REQUIRE(values(sums) == std::vector<float>{3, 3});
  row y = ones<row>(pool);
  y -= reshard<P<none>>(sum<0>(x));
  REQUIRE(values(y) == std::vector<float>{-2, -2});
}

TEST_CASE(
    "a whole number that the elements cannot hold is refused, beside tensors and as a filling") {
  const device_pool pool(pod{});
  const K counts = ones<K>(pool);
  const any_tensor<std::int32_t> any = counts;
  const auto refused = Catch::Contains("5000000000 is no i32");
  REQUIRE_THROWS_WITH(counts + 5000000000LL, refused);
  REQUIRE_THROWS_WITH(5000000000LL * any, refused);
  REQUIRE_THROWS_WITH(full<K>(pool, 5000000000LL), refused);
  REQUIRE_THROWS_WITH(counts + 5000000000LL, Catch::Contains("number_is_out_of_range"));
  REQUIRE_THROWS_WITH(counts + 4294967295U, Catch::Contains("4294967295 is no i32"));
  REQUIRE(values(counts + 2147483646LL) == std::vector<std::int32_t>(4, 2147483647));
}
