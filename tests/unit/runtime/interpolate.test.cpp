// SPDX-License-Identifier: BSL-1.0
// Interpolation: the numbers of PyTorch, the same bits everywhere, and gradients.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace shardwise;
using enum interpolation;

struct single : mesh<axis<"data", 1>> {};
struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... Sizes>
using tensor = sharded_tensor<T, extents<Sizes...>, layout<pod, Spec>>;

using images = tensor<float, P<"data", none, none, none>, 4, 3, 8, 8>;

/// True if an expression has the extents and the layout of `Want`.
template <class Want, class Made>
constexpr bool is_like(const Made&) {
  return std::is_same_v<typename Made::extents_type, typename Want::extents_type> &&
         std::is_same_v<typename Made::layout_type, typename Want::layout_type>;
}
static_assert(is_like<tensor<float, P<"data", none, none, none>, 4, 3, 16, 12>>(
    interpolate<linear, 16, 12>(abstract<images>())));
// A dimension that keeps its size may be split.
using rows_split = tensor<float, P<none, "data", "model", none>, 4, 2, 8, 8>;
static_assert(is_like<tensor<float, P<none, "data", "model", none>, 4, 2, 8, 3>>(
    interpolate<cubic, 8, 3>(abstract<rows_split>())));
static_assert(is_like<tensor<float, P<none, "data", none, none>, 4, 2, 9, 8>>(
    interpolate<linear, 9, 8>(abstract<rows_split>(), align_corners, across<"model">)));
static_assert(trace([](const auto& x) { return interpolate<linear, 16, 16>(x); },
                    abstract<images>())
                  .collectives() == 0);
static_assert(trace([](const auto& x) { return interpolate<linear, 4, 4>(x, across<"model">); },
                    abstract<rows_split>())
                  .collectives(collective::all_gather) == 1);
// A pending sum stays pending, and so do pending maxima of elements that are only chosen.
template <class Partial>
using pending = sharded_tensor<float, extents<4, 8>, layout<pod, P<none, none>, Partial>>;
static_assert(trace([](const auto& x) { return interpolate<cubic, 2, 9>(x); },
                    abstract<pending<partial<"model">>>())
                  .collectives() == 0);
static_assert(is_legal<interpolate_of<nearest, false, 2>,
                       paper_of<pending<partial<"model", reduction::max>>>>);
static_assert(!is_legal<interpolate_of<linear, false, 2>,
                        paper_of<pending<partial<"model", reduction::max>>>>);

/// Numbers without a pattern.
double number_at(index_t i) { return std::sin(static_cast<double>(i * i % 97) + 0.1); }

/// A line of elements.
template <class T, index_t N>
auto line_of(const device_pool& pool, const std::vector<double>& given) {
  return generate<sharded_tensor<T, extents<N>, layout<single, P<none>>>>(pool, [&](auto at) {
    return static_cast<T>(static_cast<compute_type<T>>(given[static_cast<std::size_t>(at[0])]));
  });
}
template <class Host>
void check_numbers(const Host& made, const std::vector<double>& want) {
  REQUIRE(made.elements().size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    CHECK(static_cast<double>(made.elements()[i]) == Approx(want[i]).margin(1e-6));
}

/// A position in the original dimension, and what an element at a distance contributes to it.
double position(index_t i, index_t size, index_t new_size, bool is_aligned) {
  if (is_aligned)
    return new_size == 1 ? 0
                         : static_cast<double>(i * (size - 1)) / static_cast<double>(new_size - 1);
  return (static_cast<double>(i) + 0.5) * static_cast<double>(size) /
             static_cast<double>(new_size) -
         0.5;
}
double weight_of(interpolation method, double distance) {
  const double x = std::abs(distance), a = -0.75;
  if (method == linear) return std::max(0.0, 1 - x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}
/// A sum over all elements, where those beyond the edges are copies.
std::vector<double> loop(interpolation method, bool is_aligned, const std::vector<double>& x,
                         index_t new_size) {
  const auto size = static_cast<index_t>(x.size());
  std::vector<double> out;
  for (index_t i = 0; i < new_size; ++i) {
    double sum = 0;
    for (index_t j = -3; j < size + 3; ++j)
      sum += weight_of(method, position(i, size, new_size, is_aligned) - static_cast<double>(j)) *
             x[static_cast<std::size_t>(std::clamp<index_t>(j, 0, size - 1))];
    out.push_back(sum);
  }
  return out;
}

TEST_CASE("Images get the numbers that PyTorch documents") {
  const device_pool pool(pod{});
  const auto x = generate<tensor<float, P<none, none>, 2, 2>>(
      pool, [](auto at) { return static_cast<float>(2 * at[0] + at[1] + 1); });
  check_numbers(to_host(interpolate<linear, 4, 4>(x)),
                {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  const double third = 1.0 / 3;
  std::vector<double> corners;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) corners.push_back(1 + third * (2 * i + j));
  check_numbers(to_host(interpolate<linear, 4, 4>(x, align_corners)), corners);
  check_numbers(to_host(interpolate<nearest, 4, 4>(x)),
                {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
  const auto curved = to_host(interpolate<cubic, 4, 4>(x));
  CHECK(curved(0, 0) == Approx(0.68359375));
  CHECK(curved(0, 1) == Approx(1.015625));
  CHECK(curved(1, 0) == Approx(1.34765625));
  CHECK(curved(3, 3) == Approx(4.31640625));
}

TEST_CASE("The nearest element is that of PyTorch, of the centre or between aligned corners") {
  const device_pool pool(single{});
  const auto x = line_of<std::int32_t, 5>(pool, {0, 1, 2, 3, 4});
  check_numbers(to_host(interpolate<nearest, 8>(x)), {0, 0, 1, 1, 2, 3, 3, 4});
  check_numbers(to_host(interpolate<nearest_exact, 8>(x)), {0, 0, 1, 2, 2, 3, 4, 4});
  check_numbers(to_host(interpolate<nearest, 3>(x)), {0, 1, 3});
  check_numbers(to_host(interpolate<nearest_exact, 3>(x)), {0, 2, 4});
  check_numbers(to_host(interpolate<nearest, 4>(x, align_corners)), {0, 1, 3, 4});
  check_numbers(to_host(interpolate<nearest, 9>(x, align_corners)), {0, 1, 1, 2, 2, 3, 3, 4, 4});
  check_numbers(to_host(interpolate<nearest, 1>(x)), {0});
  check_numbers(to_host(interpolate<nearest_exact, 1>(x)), {2});
  // Sizes for which the quotient of floating-point numbers is too small.
  const auto many = iota<sharded_tensor<std::int64_t, extents<49>, layout<single, P<none>>>>(pool);
  const auto twice = to_host(interpolate<nearest, 147>(many));
  for (index_t i = 0; i < 147; ++i) CHECK(twice(i) == i / 3);
}

template <index_t Size, index_t... NewSizes>
void check_lines(const device_pool& pool) {
  std::vector<double> given;
  for (index_t i = 0; i < Size; ++i) given.push_back(number_at(i));
  const auto x = line_of<double, Size>(pool, given);
  const auto check = [&]<index_t N>(std::integral_constant<index_t, N>) {
    INFO(Size << " to " << N);
    const auto near = [](const auto& made, const std::vector<double>& want) {
      const auto host = to_host(made);
      for (std::size_t i = 0; i < want.size(); ++i)
        CHECK(host.elements()[i] == Approx(want[i]).margin(1e-13));
    };
    near(interpolate<linear, N>(x), loop(linear, false, given, N));
    near(interpolate<linear, N>(x, align_corners), loop(linear, true, given, N));
    near(interpolate<cubic, N>(x), loop(cubic, false, given, N));
    near(interpolate<cubic, N>(x, align_corners), loop(cubic, true, given, N));
  };
  (check(std::integral_constant<index_t, NewSizes>{}), ...);
}

TEST_CASE("Lines of any size are sums of the elements nearby") {
  const device_pool pool(single{});
  check_lines<1, 1, 4>(pool);
  check_lines<2, 1, 3>(pool);
  check_lines<7, 1, 2, 7, 13>(pool);
  check_lines<40, 3, 100>(pool);
  check_lines<4100, 5000>(pool);
}

/// Resized tensors that are split over a mesh, on a number of threads.
template <class Mesh, class Spec>
std::vector<float> resized(unsigned threads) {
  const device_pool pool(Mesh{}, threads);
  const auto x =
      generate<sharded_tensor<float, extents<28, 5, 9, 7>, layout<Mesh, Spec>>>(pool, [](auto at) {
        return static_cast<float>(number_at(at[0] * 315 + at[1] * 63 + at[2] * 7 + at[3]));
      });
  std::vector<float> all;
  const auto keep = [&](const auto& made) {
    const auto host = to_host(made);
    all.insert(all.end(), host.elements().begin(), host.elements().end());
  };
  keep(interpolate<linear, 18, 20>(x));
  keep(interpolate<linear, 4, 3>(x));
  keep(interpolate<cubic, 9, 21>(x));
  keep(interpolate<cubic, 3, 12, 7>(x, align_corners));
  keep(interpolate<nearest, 11, 5>(x));
  keep(gradient([](const auto& v) { return sum(square(interpolate<cubic, 5, 16>(v))); })(x));
  return all;
}

TEST_CASE("Every mesh and number of threads gives the same bits of interpolation") {
  struct seven : mesh<axis<"data", 7>> {};
  const auto want = resized<single, P<none, none, none, none>>(1U);
  CHECK(resized<pod, P<"data", none, none, none>>(1U) == want);
  CHECK(resized<pod, P<by("data", "model"), none, none, none>>(3U) == want);
  CHECK(resized<seven, P<"data", none, none, none>>(4U) == want);
}

TEST_CASE("Dimensions are resized one after the other") {
  const device_pool pool(pod{});
  using X = tensor<double, P<"data", none, none, none>, 2, 3, 4, 5>;
  const auto x = generate<X>(
      pool, [](auto at) { return number_at(at[0] * 60 + at[1] * 20 + at[2] * 5 + at[3]); });
  // Rows are shorter at first, so the last dimension is the first one, and the last one if the
  // tensor becomes smaller.
  CHECK(to_host(interpolate<linear, 5, 2, 7>(x)) ==
        to_host(interpolate<linear, 5, 2, 7>(
            interpolate<linear, 3, 2, 7>(interpolate<linear, 3, 4, 7>(x)))));
  CHECK(to_host(interpolate<cubic, 2, 4, 6>(x)) ==
        to_host(interpolate<cubic, 2, 4, 6>(interpolate<cubic, 2, 4, 5>(x))));
}

TEST_CASE("Elements with weight 0 have no influence, and all types are moved as they are") {
  const device_pool pool(single{});
  const double inf = std::numeric_limits<double>::infinity();
  check_numbers(to_host(interpolate<linear, 1>(line_of<float, 3>(pool, {inf, 2, inf}))), {2});
  check_numbers(to_host(interpolate<cubic, 2>(line_of<float, 2>(pool, {3, 4}))), {3, 4});
  check_numbers(
      to_host(interpolate<linear, 3>(line_of<float, 5>(pool, {1, inf, 2, inf, 3}), align_corners)),
      {1, 2, 3});
  check_numbers(to_host(interpolate<nearest, 4>(line_of<float, 2>(pool, {-0.0, 2}))), {0, 0, 2, 2});
  CHECK(std::signbit(to_host(interpolate<nearest, 4>(line_of<float, 2>(pool, {-0.0, 2})))(1)));
  check_numbers(to_host(interpolate<nearest, 3>(line_of<bool, 2>(pool, {1, 0}))), {1, 1, 0});
  check_numbers(to_host(interpolate<nearest, 3>(line_of<std::int8_t, 2>(pool, {-7, 9}))),
                {-7, -7, 9});
  check_numbers(to_host(interpolate<nearest, 3>(line_of<bfloat16, 2>(pool, {1.5, 2}))),
                {1.5, 1.5, 2});
}

TEST_CASE("Dimensions without elements can be made, but not resized to more") {
  const device_pool pool(pod{});
  using X = tensor<double, P<"data", none>, 4, 3>;
  const auto x = iota<X>(pool);
  CHECK(to_host(interpolate<linear, 0>(x)).extents() == extents_desc{4, 0});
  CHECK(to_host(interpolate<nearest, 0>(interpolate<linear, 0>(x))).elements().empty());
  CHECK(
      to_host(interpolate<cubic, 5>(zeros<tensor<double, P<none, none>, 0, 3>>(pool))).extents() ==
      extents_desc{0, 5});
  // A gradient of nothing.
  const auto slope = gradient([](const auto& v) { return sum(interpolate<linear, 0>(v)); })(x);
  check_numbers(to_host(slope), std::vector<double>(12, 0.0));
}

TEST_CASE("A gradient is the transposed map, also in several dimensions and of a gradient") {
  const device_pool pool(pod{});
  using X = tensor<double, P<"data", none, none>, 4, 6, 5>;
  const auto x =
      generate<X>(pool, [](auto at) { return number_at(at[0] * 30 + at[1] * 5 + at[2]); });
  const auto dot_of = [](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.elements().size(); ++i) sum += a.elements()[i] * b.elements()[i];
    return sum;
  };
  const auto check = [&](const auto& map) {
    const auto power = [&](const auto& v) { return sum(square(map(v))); };
    const auto slope = gradient(power);
    const auto y = to_host(map(x)), given = to_host(x), back = to_host(slope(x));
    // The power is quadratic: x . slope is twice the power.
    CHECK(dot_of(given, back) == Approx(2 * dot_of(y, y)));
    // The slope is linear, 2 M'M x, and so is the gradient of its power.
    const auto curvature = gradient([&](const auto& v) { return sum(square(slope(v))); });
    CHECK(dot_of(given, to_host(curvature(x))) == Approx(2 * dot_of(back, back)));
  };
  check([](const auto& v) { return interpolate<linear, 13, 11>(v); });
  check([](const auto& v) { return interpolate<linear, 2, 9>(v, align_corners); });
  check([](const auto& v) { return interpolate<cubic, 4, 3>(v); });
  check([](const auto& v) { return interpolate<cubic, 9>(v, align_corners); });
  check([](const auto& v) { return interpolate<nearest, 4, 10>(v); });
  check([](const auto& v) { return interpolate<nearest_exact, 3, 2>(v); });
  // Each element of a nearest resize is counted.
  const auto counts =
      to_host(gradient([](const auto& v) { return sum(interpolate<nearest, 7>(v)); })(x));
  for (index_t j = 0; j < 5; ++j) CHECK(counts(1, 2, j) == (j == 0 || j == 2 ? 2 : 1));
}

TEST_CASE("Narrow elements are interpolated in float and rounded once") {
  const device_pool pool(pod{});
  const auto narrow = cast<bfloat16>(generate<images>(
      pool, [](auto at) { return static_cast<float>(number_at(at[0] * 64 + at[2] * 8 + at[3])); }));
  const auto read = cast<float>(narrow);
  const auto same = [](const auto& a, const auto& b) {
    return to_host(a) == to_host(cast<bfloat16>(b));
  };
  CHECK(same(interpolate<linear, 17, 5>(narrow), interpolate<linear, 17, 5>(read)));
  CHECK(same(interpolate<cubic, 3, 3>(narrow), interpolate<cubic, 3, 3>(read)));
  const auto slope = gradient([](const auto& v) { return sum(interpolate<cubic, 17, 5>(v)); });
  CHECK(same(slope(narrow), slope(read)));
}

TEST_CASE("Tensors without types are resized like typed ones, from views too") {
  const device_pool pool(pod{});
  const auto x = iota<tensor<float, P<"data", none, none>, 6, 10, 4>>(pool);
  const any_tensor<float> untyped = x;
  const auto resize = [](const auto& v) {
    return interpolate<linear, 5, 9>(transpose<0, 2, 1>(flip<1>(v)));
  };
  CHECK(to_host(resize(untyped)) == to_host(resize(x)));
  const auto pick = [](const auto& v) {
    return interpolate<nearest, 3, 9>(transpose<0, 2, 1>(flip<1>(v)), align_corners);
  };
  CHECK(to_host(pick(untyped)) == to_host(pick(x)));
  CHECK(std::string(explain(interpolate<cubic, 5>(untyped)))
            .find("interpolate cubic 5 %0 : f32[6@data, 10, 5]") != std::string::npos);
  // A size that is known only at run time, and then stays the same.
  using open = sharded_tensor<float, extents<6, dyn, dyn>, layout<pod, P<"data", none, none>>>;
  const open y = as<open>(untyped);
  CHECK(to_host(interpolate<linear, 10, 8>(y)) == to_host(interpolate<linear, 10, 8>(x)));
  const auto power = [](const auto& v) { return sum(square(interpolate<linear, 10, 8>(v))); };
  CHECK(to_host(gradient(power)(y)) == to_host(gradient(power)(x)));
}

TEST_CASE("Errors of interpolation name the operand, the dimension and the sizes") {
  const device_pool pool(pod{});
  const any_tensor<float> x = iota<tensor<float, P<"data", none>, 4, 6>>(pool);
  CHECK(refusal([&] { return interpolate<linear, 8>(x); }) == violation::nothing);
  CHECK(refusal([&] { return interpolate<linear, 4, 8>(x); }) == violation::nothing);
  CHECK(refusal([&] { return interpolate<linear, 8, 8>(x); }) == violation::dimension_is_split);
  CHECK(refusal([&] { return interpolate<linear, 8, 8>(x, across<"data">); }) ==
        violation::nothing);
  CHECK(refusal([&] { return interpolate<linear, 2, 2, 2>(x); }) ==
        violation::operand_rank_differs);
  CHECK(refusal([&] { return interpolate<linear, -1>(x); }) == violation::extent_is_negative);
  CHECK(refusal([&] { return interpolate<nearest, 2>(interpolate<linear, 0>(x)); }) ==
        violation::dimension_is_too_short);
  using open = sharded_tensor<float, extents<4, dyn>, layout<pod, P<"data", none>>>;
  const open none_along = as<open>(any_tensor<float>(interpolate<linear, 0>(x)));
  CHECK(refusal([&] { return interpolate<nearest, 2>(none_along); }) ==
        violation::dimension_is_too_short);
}

}  // namespace
