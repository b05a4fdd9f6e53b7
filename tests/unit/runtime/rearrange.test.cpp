// SPDX-License-Identifier: BSL-1.0
// Reshapes, flips, concatenations and cumulative sums, compared with plain loops on the host.
#include "unit/runtime/element_values.hpp"

#include <string>
#include <tuple>
#include <utility>

using namespace element_values;

namespace {

constexpr grain grains[] = {grain::cyclic(1), grain::cyclic(2), grain::strided(2)};

/// Every layout of three dimensions on small meshes, with every pending reduction, also
/// block-cyclic.
template <class T, class F>
void for_each_layout(const F& f) {
  for (const mesh_desc& mesh : generated::meshes({{2}, {3, 2}})) {
    const device_pool pool(mesh, 2);
    for (reduction kind : reductions<T>())
      for (const layout_desc& layout : generated::layouts(mesh, 3, true, kind)) f(pool, layout);
  }
}
template <class F>
void for_each_grained_layout(const F& f) {
  for (const mesh_desc& mesh : generated::meshes({{2}, {3, 2}})) {
    const device_pool pool(mesh, 2);
    for (const layout_desc& layout :
         generated::grained_layouts(mesh, 3, false, {grains[0], grains[1], grains[2]}))
      f(pool, layout);
  }
}

/// Returns the rule that a call breaks; errors about layouts must suggest a reshard.
template <class F>
violation refusal(const F& call) {
  try {
    (void)call();
    return violation::nothing;
  } catch (const error& refused) {
    if (refused.code() != violation::element_count_differs)
      REQUIRE_THAT(refused.what(), contains("reshard"));
    return refused.code();
  }
}

struct taken_and_refused {
  int taken = 0;
  int refused = 0;
};

/// Checks that a reshape keeps all elements on their devices or is an error, and that the suggested
/// reshard makes it valid.
template <class T, class To>
void check_reshape_to(const device_pool& pool, const extents_desc& from, const layout_desc& layout,
                      taken_and_refused& found) {
  const known<T> x = make<T>(pool, from, layout, 1);
  INFO(to_text(pool.mesh(), x.tensor.tensor()).c_str());
  const factor_rule rule = reshape_rule(from, To::value);
  const propagation judged = propagate(pool.mesh(), rule, {x.tensor.tensor()});
  if (!judged.verdict.ok()) {
    ++found.refused;
    REQUIRE(refusal([&] { return reshape<To>(x.tensor); }) == violation::split_would_move);
    const suggested_reshard fix = propose(pool.mesh(), rule, {x.tensor.tensor()}, judged.verdict);
    const any_tensor<T> y = reshape<To>(reshard(x.tensor, fix.layout));
    REQUIRE(same_bits(values(y), x.value));
    return;
  }
  ++found.taken;
  const any_tensor<T> y = reshape<To>(x.tensor);
  REQUIRE(y.tensor() == judged.result);
  REQUIRE(y.layout().pending == layout.pending);
  if (layout.pending == 0) REQUIRE(every_device_has(y, x.value));
  REQUIRE(same_bits(values(y), x.value));
}

}  // namespace

TEST_CASE("a reshape keeps every element on its devices, whatever the layout, or is refused") {
  taken_and_refused found;
  for_each_layout<float>([&](const device_pool& pool, const layout_desc& layout) {
    check_reshape_to<float, extents<24>>(pool, {4, 3, 2}, layout, found);
    check_reshape_to<float, extents<2, dyn, 6>>(pool, {4, 3, 2}, layout, found);
    check_reshape_to<float, extents<dyn, 2>>(pool, {6, 1, 4}, layout, found);
    check_reshape_to<float, extents<6, 4>>(pool, {2, 3, 4}, layout, found);
    check_reshape_to<float, extents<5, 7, 1>>(pool, {5, 1, 7}, layout, found);
    check_reshape_to<float, extents<0, 5>>(pool, {0, 3, 2}, layout, found);
  });
  for_each_grained_layout([&](const device_pool& pool, const layout_desc& layout) {
    check_reshape_to<float, extents<24>>(pool, {12, 2, 1}, layout, found);
    check_reshape_to<float, extents<6, 2, 2>>(pool, {12, 2, 1}, layout, found);
  });
  CHECK(found.taken > 100);
  CHECK(found.refused > 100);
}

TEST_CASE("a reshape of each type of elements") {
  for_each_type([]<class T>(std::type_identity<T>) {
    taken_and_refused found;
    for_each_layout<T>([&](const device_pool& pool, const layout_desc& layout) {
      check_reshape_to<T, extents<2, 3, 4>>(pool, {2, 12, 1}, layout, found);
    });
    CHECK(found.taken > 10);
  });
}

TEST_CASE("a reshape to another number of elements is refused when it is applied") {
  const device_pool pool(2);
  layout_desc layout;
  layout.dims.resize(3);
  const known<float> x = make<float>(pool, {4, 3, 2}, layout, 1);
  CHECK(refusal([&] { return reshape<extents<23>>(x.tensor); }) ==
        violation::element_count_differs);
  CHECK(refusal([&] { return reshape<extents<dyn, 5>>(x.tensor); }) ==
        violation::element_count_differs);
  CHECK(refusal([&] { return reshape<extents<dyn, dyn>>(x.tensor); }) ==
        violation::element_count_differs);
  CHECK(refusal([&] { return reshape(x.tensor, {dyn, 5}); }) == violation::element_count_differs);
  CHECK(refusal([&] { return reshape<extents<24>>(x.tensor); }) == violation::nothing);
  const any_tensor<float> y = reshape(x.tensor, {2, dyn});
  CHECK(y.extents() == extents_desc{2, 12});
  CHECK(same_bits(values(y), x.value));
}

namespace {

/// Flips a tensor along its first and last dimension and compares; if one of them is split, it is
/// an error.
template <class T>
void check_flip(const device_pool& pool, const extents_desc& e, const layout_desc& layout,
                taken_and_refused& found) {
  const known<T> x = make<T>(pool, e, layout, 1);
  INFO(to_text(pool.mesh(), x.tensor.tensor()).c_str());
  if (!layout.dims[0].empty() || !layout.dims[2].empty()) {
    ++found.refused;
    REQUIRE(refusal([&] { return flip<0, 2>(x.tensor); }) == violation::dimension_is_split);
    return;
  }
  ++found.taken;
  row<T> expected(x.value.size());
  std::size_t next = 0;
  for (index_t i = 0; i < e[0]; ++i)
    for (index_t j = 0; j < e[1]; ++j)
      for (index_t k = 0; k < e[2]; ++k)
        expected[next++] = x.value[((e[0] - 1 - i) * e[1] + j) * e[2] + e[2] - 1 - k];
  const any_tensor<T> y = flip<2, 0>(x.tensor);
  REQUIRE(y.tensor() == x.tensor.tensor());
  REQUIRE(same_bits(values(y), expected));
}

}  // namespace

TEST_CASE("a flip reverses dimensions that each device has whole") {
  for_each_type([]<class T>(std::type_identity<T>) {
    taken_and_refused found;
    for_each_layout<T>([&](const device_pool& pool, const layout_desc& layout) {
      check_flip<T>(pool, {4, 5, 3}, layout, found);
    });
    CHECK(found.taken > 5);
    CHECK(found.refused > 5);
  });
  taken_and_refused found;
  for_each_grained_layout([&](const device_pool& pool, const layout_desc& layout) {
    check_flip<float>(pool, {4, 5, 3}, layout, found);
    check_flip<float>(pool, {0, 5, 3}, layout, found);
  });
  CHECK(found.taken > 5);
}

namespace {

/// Concatenates three tensors of different extents along the middle dimension, one of them empty.
template <class T>
void check_concatenate(const device_pool& pool, const layout_desc& layout,
                       taken_and_refused& found) {
  const known<T> a = make<T>(pool, {5, 2, 3}, layout, 1);
  const known<T> b = make<T>(pool, {5, 0, 3}, layout, 2);
  const known<T> c = make<T>(pool, {5, 4, 3}, layout, 3);
  INFO(to_text(pool.mesh(), a.tensor.tensor()).c_str());
  if (!layout.dims[1].empty()) {
    ++found.refused;
    REQUIRE(refusal([&] { return concatenate<1>(a.tensor, b.tensor, c.tensor); }) ==
            violation::dimension_is_split);
    return;
  }
  ++found.taken;
  row<T> expected(a.value.size() + c.value.size());
  std::size_t next = 0;
  for (index_t i = 0; i < 5; ++i)
    for (const auto& [from, rows] : {std::pair{&a, 2}, std::pair{&c, 4}})
      for (index_t k = 0; k < rows * 3; ++k) expected[next++] = from->value[i * rows * 3 + k];
  const any_tensor<T> y = concatenate<1>(a.tensor, b.tensor, c.tensor);
  REQUIRE(y.extents() == extents_desc{5, 6, 3});
  REQUIRE(y.layout() == layout);
  REQUIRE(same_bits(values(y), expected));
}

}  // namespace

TEST_CASE("tensors are joined along a dimension that each device has whole") {
  for_each_type([]<class T>(std::type_identity<T>) {
    taken_and_refused found;
    for_each_layout<T>([&](const device_pool& pool, const layout_desc& layout) {
      check_concatenate<T>(pool, layout, found);
    });
    CHECK(found.taken > 5);
    CHECK(found.refused > 5);
  });
  taken_and_refused found;
  for_each_grained_layout([&](const device_pool& pool, const layout_desc& layout) {
    check_concatenate<float>(pool, layout, found);
  });
  CHECK(found.taken > 5);
}

TEST_CASE("tensors that are split further than others are joined as they are, others are refused") {
  const mesh_desc mesh = generated::meshes({{3, 2}})[0];
  const device_pool pool(mesh, 2);
  layout_desc whole;
  whole.dims.resize(2);
  whole.uneven = true;
  layout_desc rows = whole;
  rows.dims[0].push_back(0);
  layout_desc terms = whole;
  terms.pending = 1;
  const known<float> a = make<float>(pool, {5, 2}, whole, 1);
  const known<float> b = make<float>(pool, {5, 2}, rows, 2);
  const any_tensor<float> y = concatenate<1>(a.tensor, b.tensor);
  REQUIRE(y.layout() == rows);
  const row<float> made = values(y);
  for (index_t i = 0; i < 10; ++i) REQUIRE(made[i / 2 * 4 + i % 2] == a.value[i]);
  for (index_t i = 0; i < 10; ++i) REQUIRE(made[i / 2 * 4 + 2 + i % 2] == b.value[i]);
  const known<float> c = make<float>(pool, {5, 2}, terms, 3);
  REQUIRE(refusal([&] { return concatenate<1>(a.tensor, c.tensor); }) ==
          violation::pending_axes_differ);
}

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
using Rows = sharded_tensor<float, extents<dyn, 4>, layout<pod, P<"x", none>>>;
using Grid = sharded_tensor<float, extents<dyn>, layout<pod, P<by("x", "y")>>>;

}  // namespace

TEST_CASE(
    "any number of tensors is joined, in groups where there are more than an operation takes") {
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  const auto join = [](const auto& a, const auto&... b) { return concatenate<1>(a, b..., a); };
  const auto y = join(x, x + 1.0F, x + 2.0F, x + 3.0F, x + 4.0F, x + 5.0F, x + 6.0F, x + 7.0F,
                      x + 8.0F, x + 9.0F, x + 10.0F, x + 11.0F, x + 12.0F, x + 13.0F, x + 14.0F,
                      x + 15.0F, x + 16.0F, x + 17.0F, x + 18.0F);
  static_assert(std::is_same_v<decltype(y)::extents_type, extents<8, 80>>);
  const auto host = to_host(y);
  for (index_t i = 0; i < 8; ++i)
    for (index_t j = 0; j < 80; ++j)
      REQUIRE(host(i, j) == static_cast<float>(i * 4 + j % 4 + j / 4 % 19));
  const any_tensor<float> z = join(any_tensor<float>(x), x * 1.0F, x, x, x, x, x, x, x);
  REQUIRE(z.extents() == extents_desc{8, 40});
}

namespace {

/// Computes the cumulative sum along a dimension.
template <class T, int Dim>
void check_cumsum(const device_pool& pool, const extents_desc& e, const layout_desc& layout,
                  taken_and_refused& found) {
  const known<T> x = make<T>(pool, e, layout, 1);
  INFO(to_text(pool.mesh(), x.tensor.tensor()).c_str());
  if (!layout.dims[Dim].empty()) {
    ++found.refused;
    REQUIRE(refusal([&] { return cumsum<Dim>(x.tensor); }) == violation::dimension_is_split);
    return;
  }
  if (layout.pending != 0 && layout.kind != reduction::sum) {
    REQUIRE(refusal([&] { return cumsum<Dim>(x.tensor); }) == violation::partial_value_is_read);
    return;
  }
  ++found.taken;
  row<T> expected(x.value.size());
  const index_t step = row_major(e)[Dim];
  for (std::size_t i = 0; i < x.value.size(); ++i) {
    const auto at = static_cast<index_t>(i);
    expected[i] = at / step % e[Dim] == 0
                      ? x.value[i]
                      : reduced(reduction::sum, expected[at - step], x.value[i]);
  }
  const any_tensor<T> y = cumsum<Dim>(x.tensor);
  REQUIRE(y.tensor() == x.tensor.tensor());
  REQUIRE(same_bits(values(y), expected));
}

}  // namespace

TEST_CASE("running sums along each dimension, of pending sums too") {
  for_each_type([]<class T>(std::type_identity<T>) {
    if constexpr (!std::same_as<T, bool>) {
      taken_and_refused found;
      for_each_layout<T>([&](const device_pool& pool, const layout_desc& layout) {
        check_cumsum<T, 1>(pool, {4, 5, 3}, layout, found);
        check_cumsum<T, 2>(pool, {4, 2, 7}, layout, found);
      });
      CHECK(found.taken > 5);
      CHECK(found.refused > 5);
    }
  });
  taken_and_refused found;
  for_each_grained_layout([&](const device_pool& pool, const layout_desc& layout) {
    check_cumsum<float, 0>(pool, {4, 5, 3}, layout, found);
    check_cumsum<float, 1>(pool, {4, 0, 3}, layout, found);
  });
  CHECK(found.taken > 5);
}

TEST_CASE("running sums of narrow fractions are rounded where they are stored") {
  const device_pool pool(1);
  layout_desc layout;
  layout.dims.resize(2);
  row<bfloat16> ones(600);
  for (index_t i = 0; i < 600; ++i) ones[i] = bfloat16(1.0F);
  const auto x = distribute<bfloat16>(pool, ones, {300, 2}, layout);
  const auto y = distribute<bfloat16>(pool, ones, {2, 300}, layout);
  // If each partial sum were rounded, the sums would stop at 256.
  REQUIRE(static_cast<float>(values(cumsum<0>(x))[599]) == 300.0F);
  REQUIRE(static_cast<float>(values(cumsum<1>(y))[599]) == 300.0F);
}

TEST_CASE("the same functions on types, on values, on paper and in prepared programs") {
  constexpr auto f = [](const auto& x) {
    const auto blocks = reshape<extents<2, 4, 4>>(x * 2.0F);
    const auto sums = cumsum<1>(blocks) + 1.0F;
    const auto turned = flip<1>(reshape<extents<dyn, 2>>(sums));
    return concatenate<1>(turned, reshape<extents<16, 2>>(x));
  };
  constexpr auto recorded = trace_program(f, abstract<X>());
  static_assert(plan_program(recorded).total.collectives() == 0);
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  const auto y = f(x);
  static_assert(std::is_same_v<decltype(y)::extents_type, extents<16, 4>>);
  const auto host = to_host(y);
  for (index_t i = 0; i < 16; ++i)
    for (index_t j = 0; j < 2; ++j) {
      const index_t at = i * 2 + 1 - j;
      float sum = 1;
      for (index_t r = 0; r <= at / 4 % 4; ++r)
        sum += static_cast<float>(2 * (at / 16 * 16 + r * 4 + at % 4));
      REQUIRE(host(i, j) == sum);
      REQUIRE(host(i, 2 + j) == static_cast<float>(i * 2 + j));
    }
  const any_tensor<float> untyped = x;
  REQUIRE(to_host(f(untyped)) == host);
  REQUIRE(to_host(run<float>(prepare<float>(recorded), x)) == host);
}

TEST_CASE("sizes that only the run knows are met when a reshape is applied") {
  const device_pool pool{pod{}};
  const Rows x = iota<Rows>(pool, 6);
  const auto flat = reshape<extents<dyn>>(x);
  static_assert(std::is_same_v<decltype(flat)::extents_type, extents<dyn>>);
  REQUIRE(to_host(flat).elements()[23] == 23.0F);
  REQUIRE(flat.extents() == extents_desc{24});
  REQUIRE(to_host(reshape<extents<6, 2, 2>>(x))(5, 1, 1) == 23.0F);
  REQUIRE(refusal([&] { return reshape<extents<8, 4>>(x) + 0.0F; }) ==
          violation::element_count_differs);
  const Rows none_at_all = iota<Rows>(pool, 0);
  REQUIRE(reshape<extents<dyn, 2>>(none_at_all).extents() == extents_desc{0, 2});
  REQUIRE(to_host(concatenate<0>(reshape<extents<dyn, 2>>(reshard<P<none, none>>(none_at_all)),
                                 reshape<extents<dyn, 2>>(reshard<P<none, none>>(x))))(11, 1) ==
          23.0F);

  // By the type both axes split the rows, which is possible for 4 rows, but not for 2.
  const Grid of_four = iota<Grid>(pool, 16);
  REQUIRE(to_host(reshape<extents<dyn, 4>>(of_four))(3, 3) == 15.0F);
  const Grid of_two = iota<Grid>(pool, 8);
  REQUIRE(refusal([&] { return reshape<extents<dyn, 4>>(of_two); }) == violation::split_would_move);
}
