// SPDX-License-Identifier: BSL-1.0
// Norms, deviations and what is divided by them, of elements whose squares are beyond the range of
// float, and their gradients there.
#include "support/catch.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct one : mesh<axis<"x", 1>> {};
struct four : mesh<axis<"x", 4>> {};

template <class Mesh, class Spec>
struct on {
  using mesh = Mesh;
  using spec = Spec;
  template <class T, class Extents>
  using tensor = sharded_tensor<T, Extents, layout<Mesh, Spec, partial<>, uneven>>;
};
using whole = on<one, P<none, none>>;
using by_columns = on<four, P<none, "x">>;
using by_rows = on<four, P<"x", none>>;

constexpr double units[] = {1e30, 1e-25};
const std::vector<double> numbers{3, 4, 0, 0, 1, 1, -1, -1};
const std::vector<double> weights{1, 2, 3, 4, 1, 3, 2, 5};
constexpr auto over_x = across<"x">;

/// The rows {3u, 4u, 0, 0} and {u, u, -u, -u}, or other multiples of `u`.
template <class On, class T = float>
auto rows(const device_pool& pool, double u, const std::vector<double>& of = numbers) {
  return generate<typename On::template tensor<T, extents<2, 4>>>(
      pool, [&](const global_index& at) {
        return T(static_cast<float>(of[static_cast<std::size_t>(at[0] * 4 + at[1])] * u));
      });
}
/// The elements of a tensor in multiples of a unit.
template <class X>
std::vector<double> in(double unit, const X& x) {
  std::vector<double> out;
  for (const auto each : values(x))
    out.push_back(static_cast<double>(static_cast<float>(each)) / unit);
  return out;
}
template <class Made>
std::vector<double> slopes(double unit, const Made& loss, const auto& x) {
  return in(unit, gradient([&](const auto& a) { return reshard<P<>>(sum(loss(a))); })(x));
}

/// The sum of products of two rows of four, divided by `by`.
double product_of_rows(const std::vector<double>& a, const std::vector<double>& b, std::size_t row,
                       double by) {
  double out = 0;
  for (std::size_t i = row * 4; i < row * 4 + 4; ++i) out += a[i] * b[i];
  return out / by;
}
/// The rows minus their means, if wanted, divided by their root mean square.
std::vector<double> normal_rows(bool centred, std::vector<double>& roots) {
  const std::vector<double> ones(8, 1);
  std::vector<double> out = numbers;
  for (std::size_t row = 0; row < 2; ++row) {
    const double mean = centred ? product_of_rows(numbers, ones, row, 4) : 0;
    for (std::size_t i = row * 4; i < row * 4 + 4; ++i) out[i] -= mean;
    roots.push_back(std::sqrt(product_of_rows(out, out, row, 4)));
    for (std::size_t i = row * 4; i < row * 4 + 4; ++i) out[i] /= roots[row];
  }
  return out;
}
/// The gradient of the sum of normalised rows times the weights.
std::vector<double> slopes_of_normal(bool centred) {
  std::vector<double> roots;
  const std::vector<double> y = normal_rows(centred, roots), ones(8, 1);
  std::vector<double> out = weights;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t row = i / 4;
    if (centred) out[i] -= product_of_rows(weights, ones, row, 4);
    out[i] = (out[i] - y[i] * product_of_rows(weights, y, row, 4)) / roots[row];
  }
  return out;
}

constexpr double margin = 1e-5;

}  // namespace

TEMPLATE_TEST_CASE("norms of elements whose squares are beyond the range of float", "", whole,
                   by_columns, by_rows) {
  const device_pool pool{typename TestType::mesh{}};
  for (const double u : units) {
    CAPTURE(u);
    const auto x = rows<TestType>(pool, u);
    const auto norm = [](const auto& a) { return l2_norm<1>(a, over_x); };
    require_close(in(u, norm(x)), {5, 2}, margin);
    require_close(in(u, l2_norm(any_tensor<float>(x), over{1}, over_x)), {5, 2}, margin);
    require_close(in(1, reshard<P<>>(l2_norm(x, over_x) / static_cast<float>(u))), {std::sqrt(29)},
                  margin);
    require_close(slopes(1, norm, x), {.6, .8, 0, 0, .5, .5, -.5, -.5}, margin);
    const auto narrow = rows<TestType, bfloat16>(pool, u);
    require_close(in(u, norm(narrow)), {5, 2}, .03);

    const auto unit = [](const auto& a) { return nn::normalize<1>(a, over_x, 0); };
    require_close(in(1, unit(x)), {.6, .8, 0, 0, .5, .5, -.5, -.5}, margin);
    const auto b = rows<TestType>(pool, u, {1, 1, 0, 0, 1, 1, 0, 0});
    const auto cosine = [&](const auto& a) { return nn::cosine_similarity<1>(a, b, over_x, 0); };
    const double half = std::sqrt(.5);
    require_close(in(1, cosine(x)), {1.4 * half, half}, margin);
    std::vector<double> turn;
    for (const double of : {.2 - .168, .2 - .224, 0., 0., .25, .25, .25, .25})
      turn.push_back(of * half);
    require_close(slopes(1 / u, cosine, x), turn, margin);
  }
}

TEMPLATE_TEST_CASE("deviations of elements whose squares are beyond the range of float", "", whole,
                   by_columns, by_rows) {
  const device_pool pool{typename TestType::mesh{}};
  std::vector<double> roots;
  std::vector<double> normal = normal_rows(true, roots);
  for (double& each : normal) each /= 4;
  for (const double u : units) {
    CAPTURE(u);
    const auto x = rows<TestType>(pool, u);
    const auto deviation = [](const auto& a) { return standard_deviation<1>(a, over_x); };
    require_close(in(u, deviation(x)), roots, margin);
    require_close(in(u, standard_deviation(any_tensor<float>(x), over{1}, over_x)), roots, margin);
    require_close(slopes(1, deviation, x), normal, margin);
  }
  // The variance is in range, but not the sum.
  const auto x = rows<TestType>(pool, 1.5e19, {1, 1, -1, -1, 1, 1, -1, -1});
  const auto settled = [](const auto& a) { return reshard<P<none>>(a); };
  require_close(in(2.25e38, settled(variance<1>(x, over_x))), {1, 1}, margin);
  require_close(in(2.25e38, settled(nanvar<1>(x, over_x))), {1, 1}, margin);
}

TEMPLATE_TEST_CASE("normalised elements whose squares are beyond the range of float", "", whole,
                   by_columns, by_rows) {
  const device_pool pool{typename TestType::mesh{}};
  std::vector<double> deviations, roots, columns;
  const std::vector<double> normal = normal_rows(true, deviations);
  const std::vector<double> scaled = normal_rows(false, roots);
  for (std::size_t i = 0; i < 8; ++i) columns.push_back(normal[i % 2 * 4 + i / 2]);
  const auto w = rows<TestType>(pool, 1, weights);
  for (const double u : units) {
    CAPTURE(u);
    const auto x = rows<TestType>(pool, u);
    const auto by_deviation = [](const auto& a) { return layer_norm<1>(a, 0, over_x); };
    const auto by_root = [](const auto& a) { return rms_norm<1>(a, 0, over_x); };
    require_close(in(1, by_deviation(x)), normal, margin);
    require_close(in(1, by_root(x)), scaled, margin);
    const auto weighted = [&](const auto& f) { return [&](const auto& a) { return f(a) * w; }; };
    require_close(slopes(1 / u, weighted(by_deviation), x), slopes_of_normal(true), 10 * margin);
    require_close(slopes(1 / u, weighted(by_root), x), slopes_of_normal(false), 10 * margin);
    const auto channels = generate<typename TestType::template tensor<float, extents<4, 2>>>(
        pool, [&](const global_index& at) {
          return static_cast<float>(numbers[static_cast<std::size_t>(at[1] * 4 + at[0])] * u);
        });
    require_close(in(1, batch_norm(channels, 0, over_x)), columns, margin);
  }
}

TEMPLATE_TEST_CASE("distances whose squares are beyond the range of float", "", whole, by_columns,
                   by_rows) {
  const device_pool pool{typename TestType::mesh{}};
  const double apart = std::sqrt(15);
  for (const double u : units) {
    CAPTURE(u);
    const auto x = rows<TestType>(pool, u);
    const auto b = reshard<P<none, none>>(x);
    const auto distance = [&](const auto& a) { return cdist(a, b, over_x); };
    require_close(in(u, distance(x)), {0, apart, apart, 0}, margin);
    std::vector<double> wanted{2, 3, 1, 1, -2, -3, -1, -1};
    for (double& each : wanted) each /= apart;
    require_close(slopes(1, distance, x), wanted, margin);
  }
}

TEMPLATE_TEST_CASE("gradients whose squares are beyond the range of float are clipped", "", whole,
                   by_columns, by_rows) {
  const device_pool pool{typename TestType::mesh{}};
  for (const double u : units) {
    CAPTURE(u);
    std::tuple gradients{rows<TestType>(pool, u), rows<TestType>(pool, 0)};
    const auto before = in(u, std::get<0>(gradients));
    const auto norm = optim::clip_by_global_norm(gradients, 1.0);
    require_close(in(u, norm), {std::sqrt(29)}, margin);
    const double factor = u > 1 ? 1 / (std::sqrt(29) * u) : 1;
    std::vector<double> wanted = numbers;
    for (double& each : wanted) each *= u * factor / (u > 1 ? 1 : u);
    require_close(in(u > 1 ? 1 : u, std::get<0>(gradients)), wanted, margin);
  }
}
