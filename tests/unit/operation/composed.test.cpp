// SPDX-License-Identifier: BSL-1.0
// Values of composed operations on tensors whose layouts are types: at points where their parts
// have no derivative, of elements that are narrow, without numbers, and of sizes known at run time.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/values.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

struct line : mesh<axis<"x", 2>> {};
template <class T, class Extents, class Spec = P<none, none>>
using tensor = sharded_tensor<T, Extents, layout<line, Spec>>;

// Steps of a composition read temporaries in their own loops: no difference is stored, nor any
// comparison of two elements; only whether an element is NaN, in a byte for each.
using rows = tensor<float, extents<100, 16>>;
constexpr auto peak = [](const auto& f, const auto&... x) {
  return trace(f, x...).peak_bytes_per_device();
};
static_assert(peak([](const auto& a, const auto& b) { return cdist(a, b); }, abstract<rows>(),
                   abstract<rows>()) < 100 * 100 * (8 + 8));
static_assert(peak([](const auto& a, const auto& b) { return searchsorted(a, b); },
                   abstract<rows>(), abstract<rows>()) == 100 * 16 * (4 + 4 + 1 + 8));

}  // namespace

TEST_CASE("the distance of equal rows is 0, and so is its gradient") {
  const device_pool pool(line{}, 2);
  using A = tensor<double, extents<4, 2>, P<"x", none>>;
  const auto a = distribute<A>(pool, [](const global_index& at) { return at[0] < 2 ? 1.0 : 3.0; });
  const auto b = full<tensor<double, extents<1, 2>>>(pool, 1.0);
  const auto far = [](const auto& x, const auto& y) { return reshard<P<>>(sum(cdist(x, y))); };
  CHECK(to_host(cdist(a, b))(0, 0) == 0.0);
  CHECK(to_host(cdist(a, b))(3, 0) == Approx(std::sqrt(8.0)));
  const auto slopes = gradient(far)(a, b);
  CHECK(to_host(slopes)(0, 0) == 0.0);
  CHECK(to_host(slopes)(3, 1) == Approx(std::sqrt(0.5)));
  // Differences keep the digits that an expanded square would lose.
  const auto large = full<tensor<float, extents<1, 2>>>(pool, 4096.0F);
  CHECK(to_host(cdist(large, large + 0.5F))(0, 0) == Approx(std::sqrt(0.5)));
}

TEST_CASE("products of integers and of narrow elements") {
  const device_pool pool(line{}, 2);
  const auto a = iota<tensor<std::int32_t, extents<2, 2>, P<"x", none>>>(pool);
  const auto b = iota<tensor<std::int32_t, extents<2, 1>>>(pool);
  const auto product = kron(a, b);
  STATIC_REQUIRE(std::is_same_v<decltype(product)::extents_type, extents<4, 2>>);
  STATIC_REQUIRE(decltype(product)::layout_type::value == layout<line, P<"x", none>>::value);
  CHECK(to_host(product)(3, 1) == 3);
  CHECK(to_host(product)(2, 1) == 0);
  const auto u = iota<tensor<std::int32_t, extents<4, 3>, P<"x", none>>>(pool);
  const auto normal = to_host(cross(u, u + 1));
  for (int i = 0; i < 4; ++i) {
    CHECK(normal(i, 0) == -1);
    CHECK(normal(i, 1) == 2);
    CHECK(normal(i, 2) == -1);
  }
  using narrow = tensor<bfloat16, extents<2, 4>, P<none, "x">>;
  const auto seen = cast<bfloat16>(iota<tensor<float, extents<2, 4>, P<none, "x">>>(pool));
  STATIC_REQUIRE(std::is_same_v<decltype(seen)::layout_type, narrow::layout_type>);
  const auto spread = cov(seen, across<"x">);
  STATIC_REQUIRE(decltype(spread)::layout_type::value.pending == 0);
  CHECK(static_cast<float>(to_host(spread)(0, 1)) == Approx(5.0 / 3).epsilon(0.01));
  CHECK(static_cast<float>(to_host(corrcoef(seen, across<"x">))(0, 1)) == 1.0F);
  CHECK(static_cast<float>(to_host(nanvar<1>(seen, across<"x">))(1)) == 1.25F);
}

TEST_CASE("reductions of elements of which none is a number") {
  const device_pool pool(line{}, 2);
  using X = tensor<float, extents<2, 2>, P<none, "x">>;
  const float nan = std::nanf("");
  const auto x = distribute<X>(pool, [&](const global_index& at) {
    return at[0] == 0 ? nan : at[1] == 0 ? nan : 2.0F;
  });
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(to_host(reshard<P<none>>(nanmax<1>(x)))(0) == -infinity);
  CHECK(to_host(reshard<P<none>>(nanmin<1>(x)))(0) == infinity);
  CHECK(to_host(reshard<P<none>>(nanmax<1>(x)))(1) == 2.0F);
  CHECK(std::isnan(to_host(reshard<P<none>>(nanvar<1>(x, across<"x">)))(0)));
  CHECK(to_host(reshard<P<none>>(nanvar<1>(x, across<"x">)))(1) == 0.0F);
  CHECK(std::isnan(to_host(reshard<P<none>>(nanvar<1>(x, correction{1}, across<"x">)))(1)));
}

TEST_CASE("a general norm has the gradient 0 where it is 0") {
  const device_pool pool(line{}, 2);
  const auto x = full<tensor<double, extents<4>, P<"x">>>(pool, 0.0);
  const auto length = [](const auto& v) { return lp_norm(v, 3, across<"x">); };
  CHECK(to_host(length(x))() == 0.0);
  CHECK(to_host(gradient(length)(x))(3) == 0.0);
  CHECK(to_host(lp_norm(x + 2.0, 1, across<"x">))() == 8.0);
}

TEST_CASE("the pseudo-inverse of a matrix without full rank") {
  const device_pool pool(line{}, 2);
  const auto x = full<tensor<double, extents<2, 3, 2>, P<"x", none, none>>>(pool, 1.0);
  const auto inverse = to_host(linalg::pinv(x));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) CHECK(inverse(1, i, j) == Approx(1.0 / 6));
  const auto none_used = to_host(linalg::pinv(x * 0.0));
  CHECK(none_used(0, 1, 2) == 0.0);
}

TEST_CASE("integrals without values, and sizes that are known at run time") {
  const device_pool pool(line{}, 2);
  using Y = tensor<float, extents<dyn, 3>, P<"x", none>>;
  for (const index_t n : {0, 2, 4}) {
    const auto y = full<Y>(pool, 2.0F, n);
    CHECK(to_host(reshard<P<none>>(trapezoid<0>(y, 0.5)))(1) ==
          (n == 0 ? 0.0F : static_cast<float>(n - 1)));
  }
  const auto y = iota<Y>(pool, 4);
  const auto ones = full<tensor<float, extents<2, 2>>>(pool, 1.0F);
  const auto product = to_host(kron(y, ones));
  CHECK(product(7, 5) == 11.0F);
  CHECK(product(6, 4) == 11.0F);
  CHECK(to_host(cdist(y, y * 0.0F, as<P<none, none>>))(1, 2) == Approx(std::sqrt(50.0)));
  CHECK(to_host(reshard<P<none, none>>(searchsorted(index_at<0, 1>(y, across<"x">), y)))(2, 0) ==
        3);
}

TEST_CASE("a requested layout gathers what the composition needs") {
  const device_pool pool(line{}, 2);
  const auto a = iota<tensor<float, extents<2, 2>>>(pool);
  const auto b = iota<tensor<float, extents<2, 2>, P<"x", none>>>(pool);
  const auto product = kron(a, b, as<P<none, "x">>);
  STATIC_REQUIRE(decltype(product)::layout_type::value == layout<line, P<none, "x">>::value);
  CHECK(to_host(product)(3, 3) == 9.0F);
  const auto spread = cov(b, as<P<none, "x">>);
  STATIC_REQUIRE(decltype(spread)::layout_type::value == layout<line, P<none, "x">>::value);
  CHECK(to_host(spread)(0, 1) == 0.5F);
  CHECK(to_host(corrcoef(b, as<P<none, none>>))(1, 0) == 1.0F);
  CHECK(to_host(trapezoid<0>(b, 2, as<P<none>>))(1) == 4.0F);
  CHECK(to_host(lp_norm<0>(b, 1, as<P<none>>))(1) == 4.0F);
  CHECK(to_host(nanvar<0>(b, as<P<none>>))(0) == 1.0F);
  const auto c = iota<tensor<float, extents<4, 3, 2>, P<"x", none, none>>>(pool);
  CHECK(to_host(pixel_shuffle<2>(c, as<P<none, none, none>>))(0, 1, 1) == 18.0F);
  const auto counts = iota<tensor<std::int32_t, extents<2>, P<"x">>>(pool);
  CHECK(to_host(repeat_each<0, 3>(b, counts, as<P<none, "x">>))(2, 1) == 3.0F);
}

TEST_CASE("elements are repeated as often as a tensor says") {
  const device_pool pool(line{}, 2);
  const auto x = iota<tensor<float, extents<3, 2>, P<none, "x">>>(pool);
  const auto counts = distribute<tensor<std::int8_t, extents<3>, P<none>>>(
      pool, std::vector<std::int8_t>{100, 0, 100});
  const auto all = repeat_each<0, 200>(x, counts);
  STATIC_REQUIRE(decltype(all)::layout_type::value == layout<line, P<none, "x">>::value);
  for (const index_t i : {0, 99, 100, 199}) CHECK(to_host(all)(i, 1) == (i < 100 ? 1.0F : 5.0F));
  CHECK(to_host(repeat_each<0, 50>(x, counts))(49, 1) == 1.0F);
  CHECK(to_host(repeat_each<0, 201>(x, counts * 0 + 1))(200, 0) == 4.0F);
  CHECK(to_host(repeat_each<0, 201>(x, counts * 0 + 1))(1, 0) == 2.0F);
  CHECK(to_host(repeat_each<0, 0>(x, counts)).extents() == extents_desc{0, 2});
  const auto slopes =
      gradient([&](const auto& y) { return reshard<P<>>(sum(repeat_each<0, 200>(y, counts))); })(x);
  CHECK(to_host(slopes)(0, 1) == 100.0F);
  CHECK(to_host(slopes)(1, 1) == 0.0F);
}

TEST_CASE("elements are repeated as often as counts that the host knows say") {
  using X = tensor<float, extents<3, 2>, P<none, "x">>;
  using D = tensor<float, extents<dyn, 2>, P<none, "x">>;
  using S = tensor<float, extents<4, 2>, P<"x", none>>;
  const device_pool pool(line{}, 2);
  const X x = iota<X>(pool);
  const std::vector<int> counts{1, 0, 3};
  const auto fixed = repeat<0, 1, 0, 3>(x);
  const auto listed = repeat<-2>(x * 1.0F, counts);
  STATIC_REQUIRE(decltype(fixed)::extents_type::value == extents_desc{4, 2});
  STATIC_REQUIRE(decltype(listed)::extents_type::value == extents_desc{dyn, 2});
  STATIC_REQUIRE(decltype(listed)::layout_type::value == layout<line, P<none, "x">>::value);
  CHECK(to_host(fixed) == to_host(listed));
  CHECK(to_host(fixed)(0, 1) == 1.0F);
  for (const index_t i : {1, 2, 3}) CHECK(to_host(fixed)(i, 1) == 5.0F);
  const any_tensor<float> untyped = x;
  CHECK(to_host(repeat<0, 1, 0, 3>(untyped)) == to_host(fixed));
  CHECK(to_host(repeat<0>(untyped, {1, 0, 3})) == to_host(fixed));
  CHECK(to_host(repeat<0>(x, {0, 0, 0})).extents() == extents_desc{0, 2});
  CHECK(to_host(repeat<0, 0, 0, 0>(x)).extents() == extents_desc{0, 2});
  // More runs than an operation has operands.
  const auto many = iota<tensor<float, extents<12>, P<none>>>(pool);
  CHECK(to_host(repeat<0, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2>(many))(16) == 11.0F);

  // The slope of an element is the sum of those of its copies.
  const auto slopes = [&](const auto& f) {
    return to_host(gradient([&](const auto& y) { return reshard<P<>>(sum(f(y * y))); })(x));
  };
  const auto of_fixed = slopes([](const auto& y) { return repeat<0, 1, 0, 3>(y); });
  CHECK(of_fixed == slopes([&](const auto& y) { return repeat<0>(y, counts); }));
  CHECK((of_fixed(0, 1) == 2.0F && of_fixed(1, 1) == 0.0F && of_fixed(2, 1) == 30.0F));

  // A split dimension is gathered over permitted axes; a step keeps its list.
  const S s = iota<S>(pool);
  const auto gathered = repeat<0>(s, {1, 0, 0, 2}, across<"x">);
  CHECK(pool.counters().collectives() == 0);
  CHECK(to_host(gathered) == to_host(repeat<0, 1, 0, 0, 2>(s, across<"x">)));
  auto compiled = step([&](const X& y) { return repeat<0>(y, counts); });
  CHECK(to_host(compiled(x)) == to_host(fixed));
  CHECK(to_host(compiled(x * 2.0F)) == to_host(fixed * 2.0F));

  const D d = iota<D>(pool, 3);
  CHECK(to_host(repeat<0, 1, 0, 3>(d)) == to_host(fixed));
  CHECK(refusal([&] { return repeat<0, 1, 1>(d); }) == violation::operand_sizes_differ);
  CHECK(refusal([&] { return repeat<0, 1, 1>(untyped); }) == violation::operand_sizes_differ);
  CHECK(refusal([&] { return repeat<0>(x, {1, 1}); }) == violation::operand_sizes_differ);
  CHECK(refusal([&] { return repeat<0>(untyped, {}); }) == violation::operand_sizes_differ);
  CHECK(refusal([&] { return repeat<0>(x, {1, -1, 0}); }) == violation::extent_is_negative);
  CHECK(refusal([&] { return repeat<0, 1, -1, 0>(untyped); }) == violation::extent_is_negative);
  CHECK(refusal([&] { return repeat<1>(untyped, {1, 2}); }) == violation::dimension_is_split);
  CHECK(refusal([&] { return repeat<1, 1, 2>(untyped); }) == violation::dimension_is_split);
}

TEST_CASE("operands whose layouts are types beside those whose layouts are values") {
  const device_pool pool(line{}, 2);
  const auto a = iota<tensor<float, extents<4, 3>, P<"x", none>>>(pool);
  const auto b = iota<tensor<float, extents<2, 3>>>(pool);
  const any_tensor<float> any_a = a, any_b = b;
  const auto same = [&](const auto& f) {
    const auto want = to_host(f(a, b));
    for (const any_tensor<float>& made : {f(a, any_b), f(any_a, b), f(any_a, any_b)}) {
      REQUIRE(made.tensor().extents == want.extents());
      const auto got = to_host(made);
      for (index_t i = 0; i < want.extents()[0]; ++i) CHECK(got(i, 1) == want(i, 1));
    }
  };
  same([](const auto& x, const auto& y) { return kron(x, y); });
  same([](const auto& x, const auto& y) { return cdist(x, y); });
  same([](const auto& x, const auto& y) { return cross(x, index_at<0, 1>(y)); });
  same([](const auto& x, const auto& y) {
    return repeat_each<1, 7>(x, cast<std::int32_t>(index_at<0, 0>(y)));
  });
  same(
      [](const auto& x, const auto& y) { return cast<float>(searchsorted(index_at<0, 1>(y), x)); });
}

TEST_CASE("numbers that fill or stand beside integers are in their range and have no fractions") {
  const device_pool pool(line{}, 2);
  const auto bytes = zeros<tensor<std::uint8_t, extents<2, 2>>>(pool);
  const auto truth = zeros<tensor<bool, extents<2, 2>>>(pool);
  const auto whole = ones<tensor<std::int32_t, extents<2, 2>>>(pool);
  const auto rule_of = [](const auto& f) { return refusal(f); };
  CHECK(rule_of([&] { (void)full_like(bytes, 300); }) == violation::number_is_out_of_range);
  CHECK(rule_of([&] { (void)full_like(bytes, -1); }) == violation::number_is_out_of_range);
  CHECK(rule_of([&] { (void)full_like(whole, 5'000'000'000); }) ==
        violation::number_is_out_of_range);
  CHECK(rule_of([&] { (void)pad<1, 1, 0, 0>(bytes, 300); }) == violation::number_is_out_of_range);
  CHECK(rule_of([&] { (void)logical_or(truth, 2); }) == violation::number_is_out_of_range);
  CHECK(to_host(equal(truth, false))(1, 1));
  CHECK(to_host(hardtanh(full_like(bytes, 7)))(0, 0) == 1);
  CHECK(to_host(soft_shrink(full_like(bytes, 7), 5))(0, 0) == 2);
  CHECK(to_host(nanmax<1>(whole))(0) == 1);
}

TEST_CASE("a gated linear unit has two halves") {
  const device_pool pool(line{}, 2);
  const any_tensor<float> odd = ones<tensor<float, extents<2, 3>>>(pool);
  CHECK(refusal([&] { (void)glu<1>(odd); }) == violation::extent_is_not_divisible);
}

TEST_CASE("quantiles lie between two elements, infinite ones too") {
  const device_pool pool(line{}, 2);
  using halves = tensor<float16, extents<101>, P<none>>;
  const auto x = generate<halves>(pool, [](const global_index& at) {
    return at[0] < 8 ? float16(static_cast<float>(at[0]))
                     : float16(std::numeric_limits<float>::infinity());
  });
  CHECK(static_cast<float>(to_host(quantile<0>(x, 0.07))()) ==
        std::numeric_limits<float>::infinity());
  const auto y = distribute<tensor<bfloat16, extents<2>, P<none>>>(
      pool, std::vector<bfloat16>{bfloat16(1000.0F), bfloat16(1004.0F)});
  CHECK(static_cast<float>(to_host(quantile<0>(y, 1.0 / 3))()) == 1000.0F);
  const float low = 0x1.a06c06p+0F, high = std::nextafter(low, 2.0F);
  const auto z =
      distribute<tensor<float, extents<2>, P<none>>>(pool, std::vector<float>{low, high});
  CHECK(to_host(quantile<0>(z, 0.3010261984255054))() >= low);
}

TEST_CASE("any operand of a composition but one may be a number") {
  const device_pool pool(line{}, 2);
  using V = sharded_tensor<float, extents<4>, layout<line, P<"x">>>;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto x = distribute<V>(pool, std::vector<float>{1.000001F, nan, infinity, -3});
  const any_tensor<float> y(x);
  using truth = std::vector<bool>;
  CHECK(values(isclose(x, 1.0F)) == truth{true, false, false, false});
  CHECK(values(isclose(y, infinity)) == truth{false, false, true, false});
  CHECK(values(isclose(x, -3.1, 0.1)) == truth{false, false, false, true});
  CHECK(values(isclose(x, x, 0.5)) == truth{true, false, true, true});
  CHECK(values(isclose(cast<bfloat16>(x), 1)) == truth{true, false, false, false});
  CHECK(to_host(addcmul(x, 2, 3))(3) == 3);
  CHECK(to_host(addcmul(y, 2.5, 3, 2))(3) == 12);
  CHECK(to_host(lerp(1, 3, x))(3) == -5);
  CHECK(to_host(lerp(1.0F, 3.0F, y))(3) == -5);
  CHECK(to_host(heaviside(0, x))(3) == -3);
  CHECK(to_host(heaviside(0.5, y))(3) == 1);
  const auto bytes = cast<std::int8_t>(x);
  CHECK(to_host(addcmul(bytes, 2, 3))(3) == 3);
  CHECK_THROWS_AS(addcmul(bytes, 300, 3), error);
}

TEST_CASE("hard_shrink keeps NaN") {
  const device_pool pool(line{}, 2);
  using V = sharded_tensor<float, extents<4>, layout<line, P<"x">>>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto x = distribute<V>(pool, std::vector<float>{nan, 0.5F, 2, -3});
  const auto y = to_host(hard_shrink(x, 2));
  CHECK(std::isnan(y(0)));
  CHECK(y(1) == 0);
  CHECK(y(2) == 0);
  CHECK(y(3) == -3);
}
