// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 3>> {};
template <class Extents, class Spec>
using T = sharded_tensor<float, Extents, layout<pod, Spec, partial<>, uneven>>;
using M = T<extents<5, 4>, P<"x", "y">>;
using V = T<extents<4>, P<"y">>;

/// The bits of the elements on every device; the terms of pending sums are not added.
template <class X>
std::vector<std::uint32_t> bits(const X& x) {
  std::vector<std::uint32_t> all;
  for (const auto& shard : shards(x))
    for (float element : shard.elements()) all.push_back(std::bit_cast<std::uint32_t>(element));
  return all;
}

/// Checks that `f` returns the same layout and the same bits for typed tensors and for tensors with
/// run-time layouts, and also if only one of several operands has a run-time layout.
template <class F, class... X>
void same_without_types(const F& f, const X&... x) {
  const sharded_tensor typed = f(x...);
  const auto compare = [&](const any_tensor<float>& y) {
    REQUIRE(y.tensor() == typed.share()->tensor());
    REQUIRE(bits(y) == bits(typed));
  };
  compare(f(any_tensor<float>(x)...));
  if constexpr (sizeof...(X) == 2) {
    const auto mixed = [&](const auto& a, const auto& b) {
      compare(f(any_tensor<float>(a), b));
      compare(f(a, any_tensor<float>(b)));
      compare(f(any_tensor<float>(a), b + 0.0F));
    };
    mixed(x...);
  }
}

/// Returns the rule that a call breaks when it is made, not when its result is read.
template <class F>
violation refusal(const F& call) {
  try {
    (void)call();
    return violation::nothing;
  } catch (const error& refused) {
    return refused.code();
  }
}

template <class X>
concept DimensionsInBraces = requires(const X& x) {
  sum(x, {0});
};

}  // namespace

static_assert(ValueOperand<any_tensor<float>> && ValueOperand<const any_tensor<double>&> &&
              EitherOperand<any_tensor<float>>);
static_assert(!Operand<any_tensor<float>> && !ValueOperand<M> && !ValueOperand<float> &&
              EitherOperand<M> && !EitherOperand<float>);
static_assert(ElementwiseOperands<any_tensor<float>, int, M> && !ElementwiseOperands<int, float>);
static_assert(!DimensionsInBraces<any_tensor<float>>);

TEST_CASE("every function is the same of a tensor without its type") {
  const device_pool pool{pod{}};
  // Fractions below and above zero, and zero.
  const sharded_tensor m = iota<M>(pool) * 0.375F - 3.0F;
  const sharded_tensor v = 1.5F - iota<V>(pool);

  same_without_types([](const auto& x) { return -x; }, m);
  same_without_types([](const auto& x) { return abs(x); }, m);
  same_without_types([](const auto& x) { return square(x); }, m);
  same_without_types([](const auto& x) { return sqrt(x); }, m);
  same_without_types([](const auto& x) { return exp(x); }, m);
  same_without_types([](const auto& x) { return log(x); }, m);
  same_without_types([](const auto& x) { return tanh(x); }, m);
  same_without_types([](const auto& x) { return sigmoid(x); }, m);
  same_without_types([](const auto& x) { return relu(x); }, m);
  same_without_types([](const auto& x) { return gelu(x); }, m);

  same_without_types([](const auto& x, const auto& y) { return x + y; }, m, v);
  same_without_types([](const auto& x, const auto& y) { return x - y; }, m, v);
  same_without_types([](const auto& x, const auto& y) { return x * y; }, m, v);
  same_without_types([](const auto& x, const auto& y) { return x / y; }, m, v);
  same_without_types([](const auto& x, const auto& y) { return maximum(x, y); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return minimum(x, y); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return cast<float>(equal(x, y)); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return cast<float>(x < y); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return cast<float>(x <= y); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return cast<float>(x > y); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return cast<float>(x >= y); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return where(x > y, y, x); }, m, v);
}

TEST_CASE("a number stands on either side of a tensor without its type") {
  const device_pool pool{pod{}};
  const sharded_tensor m = iota<M>(pool) * 0.375F - 3.0F;
  const sharded_tensor v = 1.5F - iota<V>(pool);

  same_without_types([](const auto& x) { return x + 2; }, m);
  same_without_types([](const auto& x) { return 0.25 - x; }, m);
  same_without_types([](const auto& x) { return x * 2.0F; }, m);
  same_without_types([](const auto& x) { return 1.0F / x; }, m);
  same_without_types([](const auto& x) { return maximum(0.5F, x); }, m);
  same_without_types([](const auto& x) { return cast<float>(less(x, 0)); }, m);
  same_without_types([](const auto& x) { return cast<float>(0.375F >= x); }, m);
  same_without_types([](const auto& x) { return where(x > 0, 1.0F, 2.0F); }, m);
  same_without_types([](const auto& x) { return where(x < 1, x, 2.0F); }, m);
  same_without_types([](const auto& x, const auto& y) { return where(0.0F < x, x, y); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return where(x > 0, 3.0F, y); }, m, v);
  same_without_types([](const auto& x, const auto& y) { return relu(x * 2.0F - y) + 1.0F; }, m, v);

  // Integers lose no fraction; a number with a fraction does not compile beside them.
  const auto counts = iota<sharded_tensor<std::int32_t, extents<6>, layout<pod, P<"x">>>>(pool);
  const any_tensor<std::int32_t> halves = any_tensor<std::int32_t>(counts) / 2;
  REQUIRE(to_host(halves)(5) == 2);
}

TEST_CASE("an einsum is the same of tensors without their types") {
  const device_pool pool{pod{}};
  const M m = normal<M>(pool, random_key{5});
  const V v = normal<V>(pool, random_key{6});
  same_without_types([](const auto& a, const auto& b) { return einsum<"ij,j->i">(a, b); }, m, v);
  same_without_types([](const auto& a, const auto& b) { return einsum<"ij,ij->">(a, b); }, m, m);
  same_without_types([](const auto& a) { return reshard<P<none, "y">>(a); }, m);
  same_without_types([](const auto& a) { return reshard<P<none>>(sum<1>(a)); }, m);
  same_without_types([](const auto& a) { return einsum<"ij->ji">(a); }, m);

  const any_tensor<float> x = m, y = v;
  REQUIRE(bits(einsum("ij,j->i", x, y)) == bits(einsum<"ij,j->i">(m, v)));
  REQUIRE(refusal([&] { return einsum<"ij,i->j">(x, y); }) == violation::operand_sizes_differ);
  REQUIRE(refusal([&] { return einsum<"ij->i">(x, y); }) == violation::operand_count_differs);
  REQUIRE(refusal([&] { return einsum("ij->i", x, y, y, y, y, y); }) ==
          violation::operand_count_differs);
  const device_pool other{pod{}};
  const any_tensor<float> foreign = ones<V>(other);
  REQUIRE(refusal([&] { return einsum<"ij,j->i">(m, foreign); }) ==
          violation::operand_pools_differ);
}

TEST_CASE("a contraction gathers operands over permitted axes") {
  const device_pool pool{pod{}};
  const auto rows = normal<T<extents<6, 4>, P<"x", none>>>(pool, random_key{1});
  const auto columns = normal<T<extents<4, 6>, P<none, "x">>>(pool, random_key{2});
  const any_tensor<float> a = rows, b = columns;
  const auto wanted = to_host(einsum<"ij,jk->ik">(reshard<P<none, none>>(rows), columns));
  const auto near = [&](const auto& made) {
    const auto host = to_host(made);
    for (std::size_t i = 0; i < wanted.elements().size(); ++i)
      REQUIRE(host.elements()[i] == Approx(wanted.elements()[i]));
  };
  near(einsum<"ij,jk->ik">(rows, columns, across<"x">));
  near(matmul(rows, columns, across<"x">));
  near(einsum("ij,jk->ik", a, b, across<"x">));
  same_without_types([](const auto& x, const auto& y) { return matmul(x, y, across<"x", "y">); },
                     rows, columns);
  REQUIRE(bits(einsum("ij,jk,kl->il", a, b, a, across<"x">)) ==
          bits(einsum<"ij,jk,kl->il">(rows, columns, rows, across<"x">)));
  REQUIRE(bits(einsum<min_plus>("ij,jk->ik", a, b, across<"x">)) ==
          bits(einsum<"ij,jk->ik", min_plus>(rows, columns, across<"x">)));
  REQUIRE(refusal([&] { return einsum("ij,jk->ik", a, b); }) == violation::axis_would_split_twice);
  REQUIRE(refusal([&] { return einsum("ij,jk->ik", a, b, across<"y">); }) ==
          violation::axis_would_split_twice);
  REQUIRE(refusal([&] { return einsum("ij,jk->ik", a, b, across<"z">); }) ==
          violation::axis_is_not_in_mesh);
  REQUIRE(refusal([&] { return einsum<"ij,jk->ik">(a, b, across<"z">); }) ==
          violation::axis_is_not_in_mesh);
}

TEST_CASE("every reduction is the same of a tensor without its type") {
  const device_pool pool{pod{}};
  const sharded_tensor m = iota<M>(pool) * 0.375F - 3.0F;

  same_without_types([](const auto& x) { return sum(x); }, m);
  same_without_types([](const auto& x) { return sum<0>(x); }, m);
  same_without_types([](const auto& x) { return product<1>(x, keep_dims); }, m);
  same_without_types([](const auto& x) { return max<0, 1>(x); }, m);
  same_without_types([](const auto& x) { return min(x, keep_dims); }, m);
  same_without_types([](const auto& x) { return mean<0>(x); }, m);
  same_without_types([](const auto& x) { return mean(x, keep_dims); }, m);
}

TEST_CASE("the dimensions of a reduction may be values") {
  const device_pool pool{pod{}};
  const any_tensor<float> m = M(iota<M>(pool) * 0.375F - 3.0F);
  const auto same = [](const any_tensor<float>& a, const any_tensor<float>& b) {
    REQUIRE(a.tensor() == b.tensor());
    REQUIRE(bits(a) == bits(b));
  };
  same(sum(m, over{0}), sum<0>(m));
  same(product(m, over{1}, keep_dims), product<1>(m, keep_dims));
  same(max(m, over{1, 0}), max(m));
  same(min(m, over{0}), min<0>(m));
  REQUIRE(refusal([&] { return min(m, over{0, 0}); }) == violation::dimension_is_repeated);
  same(mean(m, over{0}), mean<0>(m));
  same(mean(m, over{0, 1}, keep_dims), mean(m, keep_dims));
  same(reduce(reduction::max, m, over{1}, true), max<1>(m, keep_dims));
  same(reduce(reduction::max, m, over::of_bits(2)), max<1>(m));

  std::vector<int> numbers;
  same(sum(m, over(numbers)), m);
  same(mean(m, over(numbers)), m);
  numbers = {1};
  same(sum(m, over(numbers)), sum<1>(m));
  same(sum(m, over(inplace_vector<std::uint8_t, 2>{0, 1})), sum(m));
}

TEST_CASE("the mean of uneven shards weighs what they hold") {
  const device_pool pool{pod{}};
  // Rows 0, 1, 2 are on two devices and rows 3, 4 on the other two.
  const any_tensor<float> m = iota<M>(pool);
  const any_tensor<float> rows = reshard(mean(m, over{1}), spec_desc{{""}});
  const any_tensor<float> columns = reshard(mean(m, over{0}), spec_desc{{""}});
  for (int i = 0; i < 5; ++i) REQUIRE(to_host(rows)(i) == static_cast<float>(i) * 4.0F + 1.5F);
  for (int j = 0; j < 4; ++j) REQUIRE(to_host(columns)(j) == static_cast<float>(j) + 8.0F);
  REQUIRE(to_host(reshard(mean(m), spec_desc{}))() == 9.5F);
}

TEST_CASE("a softmax of a layout that is a value") {
  const device_pool pool{pod{}};
  using Rows = T<extents<5, 4>, P<"x", none>>;
  const auto softmax = [](const auto& x) {
    const auto e = exp(x - max<1>(x, keep_dims));
    return e / sum<1>(e, keep_dims);
  };
  same_without_types(softmax, Rows(iota<Rows>(pool) * 0.125F));
}

TEST_CASE("what a rule forbids is refused when it is written, with the sentence of the compiler") {
  const device_pool pool{pod{}};
  const device_pool elsewhere{pod{}};
  const M typed = iota<M>(pool);
  const any_tensor<float> m = typed;
  const any_tensor<float> terms = sum(m, over{0});
  using Turned = T<extents<4, 5>, P<"x", "y">>;

  REQUIRE_THROWS_WITH(
      relu(terms),
      "partial_value_is_read: a pending reduction is finished before its value is read (operand 0, "
      "axis 'x'); operands f32[4@y]{partial sum: x}; try reshard<P<\"y\">>(operand 0)");
  REQUIRE(refusal([&] { return terms + 1.0F; }) == violation::pending_axes_differ);
  REQUIRE(refusal([&] { return 1.0F / terms; }) == violation::partial_value_is_read);
  REQUIRE(refusal([&] { return terms / 2.0F; }) == violation::nothing);
  REQUIRE(refusal([&] { return max(terms); }) == violation::partial_value_is_read);
  REQUIRE(refusal([&] { return m + any_tensor<float>(iota<Turned>(pool)); }) ==
          violation::operand_sizes_differ);
  REQUIRE(refusal([&] { return m + iota<T<extents<5, 4>, P<"y", "x">>>(pool); }) ==
          violation::operand_layouts_conflict);
  REQUIRE(refusal([&] { return m * any_tensor<float>(iota<M>(elsewhere)); }) ==
          violation::operand_pools_differ);
  REQUIRE(refusal([&] { return iota<M>(elsewhere) * m; }) == violation::operand_pools_differ);
}

TEST_CASE("a contraction in steps names the operands of the call") {
  const device_pool pool{pod{}};
  const any_tensor<float> a = zeros<T<extents<6, 7>, P<none, none>>>(pool),
                          b = zeros<T<extents<7, 3>, P<none, "x">>>(pool),
                          c = zeros<T<extents<5, 6>, P<none, none>>>(pool),
                          d = zeros<T<extents<3, 6>, P<"y", none>>>(pool);
  const auto message = [](const auto& f) {
    try {
      (void)f();
    } catch (const error& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  CHECK_THAT(message([&] { return einsum("ab,bc,cd->ad", a, b, c); }),
             contains("operand_sizes_differ") &&
                 contains("(operand 2, dimension 0, 5 where 3 is needed)"));
  const std::string conflict = message([&] { return einsum<"ab,bc,cd->ad", min_plus>(a, b, d); });
  CHECK_THAT(conflict, contains("operand_layouts_conflict") &&
                           contains("(operand 2, dimension 0, axis 'y')") &&
                           contains("(operand 2)"));
}

TEST_CASE("a reduction names dimensions that its operand has") {
  const device_pool pool{pod{}};
  const any_tensor<float> m = iota<M>(pool);
  REQUIRE_THROWS_WITH(
      sum(m, over{0, 2}),
      "dimension_is_out_of_range: a dimension is a number from minus the rank to "
      "the rank minus one, where -1 is the last (2 where at least -2 and less than 2 is "
      "needed)");
  for (const over& dims : {over{-3}, over{1, -3}, over{2}, over{99}, over{std::int64_t{1} << 40}}) {
    REQUIRE(refusal([&] { return mean(m, dims); }) == violation::dimension_is_out_of_range);
    REQUIRE(refusal([&] { return max(m, dims, keep_dims); }) ==
            violation::dimension_is_out_of_range);
  }
  REQUIRE(refusal([&] { return sum<2>(m); }) == violation::dimension_is_out_of_range);
  REQUIRE(refusal([&] { return mean<-3>(m, keep_dims); }) == violation::dimension_is_out_of_range);
  REQUIRE(refusal([&] { return reduce(reduction::sum, m, over{31}); }) ==
          violation::dimension_is_out_of_range);
}
