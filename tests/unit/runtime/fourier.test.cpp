// SPDX-License-Identifier: BSL-1.0
// Fourier transforms: of lines of any length, the same bits everywhere, and their gradients.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace shardwise;

struct single : mesh<axis<"data", 1>> {};
struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... Sizes>
using tensor = sharded_tensor<T, extents<Sizes...>, layout<pod, Spec>>;

using reals = tensor<float, P<"data", none>, 6, 10>;
using pairs = tensor<float, P<"data", none, none>, 6, 10, 2>;

/// True if an expression has the extents and the layout of `Want`.
template <class Want, class Made>
constexpr bool is_like(const Made&) {
  return std::is_same_v<typename Made::extents_type, typename Want::extents_type> &&
         std::is_same_v<typename Made::layout_type, typename Want::layout_type>;
}
static_assert(
    is_like<tensor<float, P<"data", none, none>, 6, 6, 2>>(fourier::rfft<1>(abstract<reals>())));
static_assert(is_like<pairs>(fourier::fft<1>(abstract<pairs>())));
static_assert(is_like<tensor<float, P<"data", none>, 6, 18>>(fourier::irfft<1>(abstract<pairs>())));
static_assert(is_like<tensor<float, P<"data", none>, 6, 19>>(
    fourier::irfft<1>(abstract<pairs>(), fourier::length<19>)));
static_assert(
    trace([](const auto& x) { return fourier::rfft<1>(x); }, abstract<reals>()).collectives() == 0);
// A pending sum stays pending.
using terms = sharded_tensor<float, extents<4, 8>, layout<pod, P<none, none>, partial<"model">>>;
static_assert(trace([](const auto& x) { return fourier::rfft<0, 1>(x); }, abstract<terms>())
                  .collectives() == 0);
static_assert(trace([](const auto& x) { return fourier::rfft<0, 1>(x, across<"data">); },
                    abstract<reals>())
                  .collectives(collective::all_gather) == 1);

template <class T>
double number_at(index_t i) {
  return static_cast<double>(static_cast<T>(std::sin(static_cast<double>(i * i % 97) + 0.1)));
}

/// The sums of the definition for a line of complex numbers.
template <class T>
std::vector<std::complex<long double>> sums(index_t n) {
  const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::complex<long double>> out(at(n)), line, roots;
  for (index_t j = 0; j < n; ++j) {
    line.emplace_back(number_at<T>(2 * j), number_at<T>(2 * j + 1));
    roots.push_back(std::polar(
        1.0L, -2 * std::acos(-1.0L) * static_cast<long double>(j) / static_cast<long double>(n)));
  }
  for (index_t k = 0; k < n; ++k)
    for (index_t j = 0; j < n; ++j) out[at(k)] += line[at(j)] * roots[at(j * k % n)];
  return out;
}

/// The error of the transform of a line relative to its largest number, in digits of `T`.
template <class T, index_t N>
double error_of_line() {
  const device_pool pool(single{});
  using X = sharded_tensor<T, extents<N, 2>, layout<single, P<none, none>>>;
  const auto x =
      generate<X>(pool, [](auto at) { return static_cast<T>(number_at<T>(2 * at[0] + at[1])); });
  const auto y = to_host(fourier::fft<0>(x));
  const auto want = sums<T>(N);
  long double most = 0, apart = 0;
  for (index_t k = 0; k < N; ++k) {
    const auto& sum = want[static_cast<std::size_t>(k)];
    most = std::max(most, std::abs(sum));
    apart = std::max(apart, std::abs(std::complex<long double>(y(k, 0), y(k, 1)) - sum));
  }
  const auto back = to_host(fourier::ifft<0>(fourier::fft<0>(x)));
  const auto given = to_host(x);
  for (index_t k = 0; k < N; ++k)
    CHECK(static_cast<double>(back(k, 1)) ==
          Approx(static_cast<double>(given(k, 1))).margin(32 * std::numeric_limits<T>::epsilon()));
  return most == 0 ? 0 : static_cast<double>(apart / most / std::numeric_limits<T>::epsilon());
}
template <class T, index_t... N>
void check_lengths() {
  const auto check = [](index_t length, double error) {
    INFO(length << ": " << error);
    CHECK(error < 1 + std::log2(static_cast<double>(length)));
  };
  (check(N, error_of_line<T, N>()), ...);
}

TEST_CASE("A transform of any length has an error of a few digits") {
  check_lengths<float, 1, 2, 3, 4, 5, 7, 8, 9, 16, 30, 37, 77, 97, 128, 210, 961, 1009>();
  check_lengths<double, 1, 2, 6, 11, 25, 31, 64, 74, 169, 251, 1000, 1024>();
  // A line that does not fit a cache beside its neighbours.
  check_lengths<float, 5000>();
}

TEST_CASE("Lines without elements have sums that are 0") {
  const device_pool pool(pod{});
  using none_along = tensor<double, P<"data", none>, 4, 0>;
  const auto y = to_host(fourier::rfft<1>(zeros<none_along>(pool)));
  CHECK(y.extents() == extents_desc{4, 1, 2});
  CHECK(y(2, 0, 0) == 0);
  CHECK(y(2, 0, 1) == 0);
  CHECK(to_host(fourier::irfft<1>(fourier::rfft<1>(zeros<none_along>(pool)))).elements().empty());
  using no_lines = tensor<double, P<none, none>, 0, 4>;
  CHECK(to_host(fourier::rfft<1>(zeros<no_lines>(pool))).elements().empty());
  CHECK(to_host(fourier::rfft<0>(zeros<no_lines>(pool)))(0, 3, 0) == 0);
  using one_along = tensor<double, P<"data", none>, 4, 1>;
  const auto one = full<one_along>(pool, 5.0);
  CHECK(to_host(fourier::rfft<1>(one))(1, 0, 0) == 5);
  CHECK(to_host(fourier::irfft<1>(fourier::rfft<1>(one), fourier::length<1>)) == to_host(one));
  // The gradient of a result that no element determines.
  const auto of_none =
      gradient([](const auto& x) { return sum(fourier::rfft<1>(x)); })(zeros<none_along>(pool));
  CHECK(to_host(of_none).elements().empty());
}

/// The transforms of lines that are split over a mesh, on a number of threads.
template <class Mesh, class Spec>
std::vector<float> transformed(unsigned threads) {
  const device_pool pool(Mesh{}, threads);
  const auto x = generate<sharded_tensor<float, extents<28, 30>, layout<Mesh, Spec>>>(
      pool, [](auto at) { return std::sin(static_cast<float>(at[0] * 31 + at[1] * at[1])); });
  const auto y = fourier::rfft<1>(x);
  const auto z = fourier::irfft<1>(fourier::fft<1>(y), fourier::length<31>);
  const auto host_y = to_host(y);
  const auto host_z = to_host(z);
  std::vector<float> all(host_y.elements().begin(), host_y.elements().end());
  all.insert(all.end(), host_z.elements().begin(), host_z.elements().end());
  return all;
}

TEST_CASE("Every mesh and number of threads gives the same bits") {
  struct seven : mesh<axis<"data", 7>> {};
  const auto want = transformed<single, P<none, none>>(1U);
  CHECK(transformed<pod, P<"data", none>>(1U) == want);
  CHECK(transformed<pod, P<by("data", "model"), none>>(3U) == want);
  CHECK(transformed<seven, P<"data", none>>(4U) == want);
}

TEST_CASE("The transform of a cyclic convolution is the product of the transforms") {
  const device_pool pool(pod{});
  using X = tensor<double, P<"data", none>, 4, 12>;
  const auto a = generate<X>(pool, [](auto at) { return number_at<double>(at[0] * 12 + at[1]); });
  const auto b = generate<X>(pool, [](auto at) { return number_at<double>(at[0] + 5 * at[1]); });
  const auto fa = fourier::rfft<1>(a), fb = fourier::rfft<1>(b);
  const auto part = [](const auto& x, auto which) { return index_at<2, which.value>(x); };
  constexpr std::integral_constant<index_t, 0> re{};
  constexpr std::integral_constant<index_t, 1> im{};
  const auto product = stack<2>(part(fa, re) * part(fb, re) - part(fa, im) * part(fb, im),
                                part(fa, re) * part(fb, im) + part(fa, im) * part(fb, re));
  const auto y = to_host(fourier::irfft<1>(product));
  const auto ha = to_host(a), hb = to_host(b);
  for (index_t i = 0; i < 4; ++i)
    for (index_t j = 0; j < 12; ++j) {
      double sum = 0;
      for (index_t k = 0; k < 12; ++k) sum += ha(i, k) * hb(i, (j - k + 12) % 12);
      CHECK(y(i, j) == Approx(sum).margin(1e-13));
    }
}

TEST_CASE("A gradient is the adjoint, also in two dimensions and of a gradient") {
  const device_pool pool(pod{});
  using X = tensor<double, P<none, none, "data">, 5, 6, 4>;
  const auto x =
      generate<X>(pool, [](auto at) { return number_at<double>(at[0] * 24 + at[1] * 4 + at[2]); });
  const auto power = [](const auto& v) { return sum(square(fourier::rfft<0, 1>(v))); };
  // The squares of the half are those of the whole but for the columns that count once.
  const auto slope = gradient(power)(x);
  const auto once = to_host(fourier::rfft<0, 1>(x));
  const auto back = to_host(slope);
  // Along x the power is quadratic: x . slope is twice the power.
  double along = 0, total = 0;
  const auto given = to_host(x);
  for (std::size_t i = 0; i < given.elements().size(); ++i)
    along += given.elements()[i] * back.elements()[i];
  for (const double e : once.elements()) total += e * e;
  CHECK(along == Approx(2 * total));
  const auto identity = [](const auto& v) {
    return sum(square(fourier::irfft<0, 1>(fourier::rfft<0, 1>(v))));
  };
  const auto twice = to_host(gradient(identity)(x));
  for (std::size_t i = 0; i < given.elements().size(); ++i)
    CHECK(twice.elements()[i] == Approx(2 * given.elements()[i]).margin(1e-14));
  const auto curvature = [&](const auto& v) { return sum(square(gradient(identity)(v))); };
  const auto of_gradient = to_host(gradient(curvature)(x));
  for (std::size_t i = 0; i < given.elements().size(); ++i)
    CHECK(of_gradient.elements()[i] == Approx(8 * given.elements()[i]).margin(1e-13));
}

TEST_CASE("Narrow lines are computed in float and rounded once") {
  const device_pool pool(pod{});
  const auto wide = generate<reals>(
      pool, [](auto at) { return static_cast<float>(at[0] * 10 + at[1] * at[1] % 7); });
  const auto narrow = cast<bfloat16>(wide);
  const auto same = [](const auto& a, const auto& b) {
    return to_host(a) == to_host(cast<bfloat16>(b));
  };
  const auto read = cast<float>(narrow);
  CHECK(same(fourier::rfft<1>(narrow), fourier::rfft<1>(read)));
  const auto y = fourier::rfft<1>(narrow);
  CHECK(same(fourier::irfft<1>(y), fourier::irfft<1>(cast<float>(y))));
  CHECK(same(fourier::fft<1>(y), fourier::fft<1>(cast<float>(y))));
  CHECK(same(fourier::ifft<1>(y), fourier::ifft<1>(cast<float>(y))));
}

TEST_CASE("Tensors without types are transformed like typed ones, from views too") {
  const device_pool pool(pod{});
  const auto x = iota<reals>(pool);
  const any_tensor<float> untyped = x;
  const auto back = [](const auto& v) {
    return fourier::irfft<0>(fourier::rfft<0>(transpose<1, 0>(flip<1>(v))));
  };
  CHECK(to_host(back(untyped)) == to_host(back(x)));
  CHECK(to_host(back(x))(3, 2) == Approx(to_host(x)(2, 6)));
  CHECK(std::string(explain(fourier::irfft<1>(fourier::rfft<1>(untyped))))
            .find("rfft 1 %0 : f32[6@data, 6, 2]") != std::string::npos);
}

TEST_CASE("Errors name the operand, the dimension and the sizes") {
  const device_pool pool(pod{});
  const any_tensor<float> x = iota<reals>(pool);
  CHECK(refusal([&] { return fourier::fft<0>(x, across<"data">); }) ==
        violation::operand_sizes_differ);
  CHECK(refusal([&] { return fourier::fft<0>(index_at<1, 0>(x)); }) ==
        violation::operand_rank_differs);
  CHECK(refusal([&] { return fourier::fft<1>(fourier::rfft<1>(x)); }) == violation::nothing);
  CHECK(refusal([&] { return fourier::fft<2>(fourier::rfft<1>(x)); }) ==
        violation::dimension_is_out_of_range);
  CHECK(refusal([&] { return fourier::rfft<2>(x); }) == violation::dimension_is_out_of_range);
  CHECK(refusal([&] { return fourier::rfft<1, 1>(x); }) == violation::dimension_is_repeated);
  CHECK(refusal([&] { return fourier::rfft<0>(x); }) == violation::dimension_is_split);
  CHECK(refusal([&] { return fourier::irfft<1>(fourier::rfft<1>(x), fourier::length<12>); }) ==
        violation::operand_sizes_differ);
  CHECK(refusal([&] { return fourier::irfft<1>(fourier::rfft<1>(x), fourier::length<-1>); }) ==
        violation::extent_is_negative);
  CHECK(refusal([&] { return fourier::irfft<1>(fourier::rfft<1>(x), fourier::length<11>); }) ==
        violation::nothing);
}

}  // namespace
