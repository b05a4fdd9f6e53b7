// SPDX-License-Identifier: BSL-1.0
// Linear algebra at its edges: singular and empty matrices, narrow elements, typed tensors.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Extents, class Spec>
using tensor = sharded_tensor<T, Extents, layout<pod, Spec>>;

using squares = tensor<double, extents<2, 2, 2>, P<"data", none, none>>;
using halves = tensor<bfloat16, extents<2, 2, 2>, P<"data", none, none>>;

/// The first matrix is regular and indefinite, the second one singular.
squares two_matrices(const device_pool& pool) {
  return distribute<squares>(pool, std::vector<double>{1, 2, 3, 4, 1, 2, 2, 4});
}

TEST_CASE("A singular matrix has the determinant 0, whose logarithm is minus infinity") {
  const device_pool pool(pod{});
  const auto x = two_matrices(pool);
  const auto d = to_host(linalg::determinant(x));
  CHECK(d(0) == Approx(-2));
  CHECK(d(1) == 0);
  const auto [sign, size] = linalg::slogdet(x);
  CHECK(to_host(sign)(0) == -1);
  CHECK(to_host(size)(0) == Approx(std::log(2)));
  CHECK(to_host(sign)(1) == 0);
  CHECK(to_host(size)(1) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("A matrix that cannot be factorised gives NaN, and does not disturb the others") {
  const device_pool pool(pod{});
  const auto x = distribute<squares>(
      pool, std::vector<double>{1, 2, 2, 1, 4, 0, 2, 2});  // indefinite, positive
  const auto l = to_host(linalg::cholesky(x));
  CHECK(std::isnan(l(0, 0, 0)));
  CHECK(std::isnan(l(0, 1, 1)));
  // Only the lower triangle is read.
  CHECK(l(1, 0, 0) == 2);
  CHECK(l(1, 0, 1) == 0);
  CHECK(l(1, 1, 0) == 1);
  CHECK(l(1, 1, 1) == 1);
  const auto inverses = to_host(linalg::inverse(two_matrices(pool)));
  CHECK(inverses(0, 0, 0) == Approx(-2));
  CHECK(!std::isfinite(inverses(1, 0, 0)));
}

TEST_CASE("the determinant of a matrix with NaN is NaN, and so is its sign") {
  const device_pool pool(pod{});
  using one = tensor<double, extents<1, 1, 1>, P<none, none, none>>;
  const auto x = full<one>(pool, std::numeric_limits<double>::quiet_NaN());
  CHECK(std::isnan(to_host(linalg::slogdet(x).first)(0)));
  CHECK(std::isnan(to_host(linalg::slogdet(x).second)(0)));
}

TEST_CASE("Matrices without rows have the determinant 1, and solutions without elements") {
  const device_pool pool(pod{});
  using empty = tensor<double, extents<2, 0, 0>, P<"data", none, none>>;
  using sides = tensor<double, extents<2, 0, 3>, P<"data", none, none>>;
  const auto x = zeros<empty>(pool);
  CHECK(to_host(linalg::determinant(x))(1) == 1);
  CHECK(to_host(linalg::slogdet(x).first)(0) == 1);
  CHECK(to_host(linalg::slogdet(x).second)(0) == 0);
  CHECK(to_host(linalg::inverse(x)).elements().empty());
  CHECK(to_host(linalg::cholesky(x)).elements().empty());
  CHECK(to_host(linalg::solve(x, zeros<sides>(pool))).elements().empty());
  CHECK(to_host(linalg::qr(zeros<sides>(pool)).second).elements().empty());
  CHECK(to_host(linalg::eigh(x).first).elements().empty());
  CHECK(to_host(std::get<1>(linalg::svd(x))).elements().empty());
  CHECK(to_host(std::get<2>(linalg::svd(zeros<sides>(pool)))).elements().empty());
  using none_of_them = tensor<double, extents<0, 2, 2>, P<none, none, none>>;
  CHECK(to_host(linalg::determinant(zeros<none_of_them>(pool))).elements().empty());
  using side = tensor<double, extents<2, 2, 0>, P<"data", none, none>>;
  CHECK(to_host(linalg::solve(two_matrices(pool), zeros<side>(pool))).elements().empty());
}

TEST_CASE("Narrow matrices are computed in float and rounded once") {
  const device_pool pool(pod{});
  const auto x = two_matrices(pool) + 3.0 * two_matrices(pool) * two_matrices(pool);
  const halves narrow = cast<bfloat16>(x);
  const auto wide = cast<float>(narrow);
  const auto same = [](const auto& a, const auto& b) {
    return to_host(a) == to_host(cast<bfloat16>(b));
  };
  CHECK(same(linalg::inverse(narrow), linalg::inverse(wide)));
  CHECK(same(linalg::determinant(narrow), linalg::determinant(wide)));
  CHECK(same(linalg::slogdet(narrow).second, linalg::slogdet(wide).second));
  CHECK(same(linalg::solve(narrow, narrow), linalg::solve(wide, wide)));
  CHECK(same(linalg::triangular_solve(narrow, narrow), linalg::triangular_solve(wide, wide)));
  const auto factors = index_at<1, 0>(narrow);
  CHECK(same(linalg::householder_product(narrow, factors),
             linalg::householder_product(wide, cast<float>(factors))));
  CHECK(same(linalg::qr(narrow).first, linalg::qr(wide).first));
  CHECK(same(linalg::qr(narrow).second, linalg::qr(wide).second));
  CHECK(same(std::get<0>(linalg::svd(narrow)), std::get<0>(linalg::svd(wide))));
  CHECK(same(std::get<1>(linalg::svd(narrow)), std::get<1>(linalg::svd(wide))));
  CHECK(same(std::get<2>(linalg::svd(narrow)), std::get<2>(linalg::svd(wide))));
  CHECK(same(linalg::eigh(narrow).first, linalg::eigh(wide).first));
  CHECK(same(linalg::eigh(narrow).second, linalg::eigh(wide).second));
}

TEST_CASE(
    "A singular value decomposition is the matrix, with orthonormal vectors and fixed signs") {
  const device_pool pool(pod{});
  const auto check = [&](const auto& x) {
    const auto [u, s, vh] = linalg::svd(x);
    const auto number = [](const auto& of) { return to_host(reshard<P<>>(of))(); };
    const auto close = [&](const auto& a, const auto& b) {
      return number(max(abs(a - b))) < 1e-13;
    };
    const auto one = [](const auto& square) {
      return where(equal(iota_like<1>(square), iota_like<2>(square)), square * 0.0 + 1.0, 0.0);
    };
    CHECK(close(einsum<"bij,bj,bjk->bik">(u, s, vh), x));
    const auto rows = einsum<"bki,bkj->bij">(u, u);
    CHECK(close(rows, one(rows)));
    const auto columns = einsum<"bik,bjk->bij">(vh, vh);
    CHECK(close(columns, one(columns)));
    CHECK(number(min(s)) >= 0);
    CHECK(number(all(max<1>(u) >= -min<1>(u))));
  };
  // Of one large enough for another algorithm, and of rank 1, of both shapes.
  using wide = tensor<double, extents<2, 20, 30>, P<"data", none, none>>;
  using tall = tensor<double, extents<2, 7, 5>, P<"data", none, none>>;
  check(uniform<wide>(pool, random_key{3}) - 0.5);
  check(transpose<0, 2, 1>(uniform<wide>(pool, random_key{4}) - 0.5));
  check(full<tall>(pool, -2.0));
  check(transpose<0, 2, 1>(full<tall>(pool, -2.0)));
  const auto [u, s, vh] = linalg::svd(full<tall>(pool, -2.0));
  CHECK(to_host(s)(1, 0) == Approx(2 * std::sqrt(35)));
  CHECK(to_host(u)(1, 3, 0) == Approx(1 / std::sqrt(7)));
  CHECK(to_host(vh)(1, 0, 3) == Approx(-1 / std::sqrt(5)));
  const auto broken = linalg::svd(full<tall>(pool, std::numeric_limits<double>::infinity()));
  CHECK(std::isnan(to_host(std::get<1>(broken))(0, 2)));
}

TEST_CASE("The gradient of singular values is finite where that of their vectors is not") {
  const device_pool pool(pod{});
  const auto x = distribute<squares>(pool, std::vector<double>{2, 0, 0, 2, 3, 0, 0, 0});
  const auto of_values =
      gradient([](const auto& a) { return sum(std::get<1>(linalg::svd(a))); })(x);
  CHECK(to_host(of_values)(0, 0, 0) == Approx(1));
  CHECK(to_host(of_values)(0, 0, 1) == Approx(0).margin(1e-15));
  CHECK(to_host(of_values)(1, 0, 0) == Approx(1));
  const auto of_vectors = gradient([](const auto& a) {
    const auto vectors = std::get<0>(linalg::svd(a));
    return sum(vectors * cast<double>(iota_like<1>(vectors)));
  })(x);
  CHECK(!std::isfinite(to_host(of_vectors)(0, 0, 1)));
  CHECK(std::isfinite(to_host(of_vectors)(1, 0, 1)));
}

TEST_CASE("Reflectors that are not given leave the columns of the identity") {
  const device_pool pool(pod{});
  using tall = tensor<double, extents<2, 3, 2>, P<"data", none, none>>;
  using factors = tensor<double, extents<2, 0>, P<"data", none>>;
  const auto q = to_host(linalg::householder_product(full<tall>(pool, 7.0), zeros<factors>(pool)));
  CHECK(q(1, 0, 0) == 1);
  CHECK(q(1, 1, 0) == 0);
  CHECK(q(1, 1, 1) == 1);
  CHECK(q(1, 2, 1) == 0);
}

TEST_CASE("Columns of right-hand sides that are split are solved where they are") {
  const device_pool pool(pod{});
  using sides = tensor<double, extents<2, 2, 4>, P<"data", none, "model">>;
  const auto x = two_matrices(pool);
  const auto b = generate<sides>(pool, [](const auto& at) { return double(at[1] + at[2]); });
  const auto solve = [](const auto& a, const auto& y) {
    return linalg::triangular_solve<linalg::triangular::upper>(a, y);
  };
  STATIC_REQUIRE(trace(solve, abstract<squares>(), abstract<sides>()).collectives() == 0);
  const auto y = to_host(solve(x, b));
  // The upper triangles are 1 2, 0 4, for both matrices.
  for (index_t k = 0; k < 4; ++k) {
    const double second = double(1 + k) / 4;
    CHECK(y(0, 1, k) == second);
    CHECK(y(0, 0, k) == double(k) - 2 * second);
  }
}

TEST_CASE("Many right-hand sides have the solutions that each has by itself") {
  const device_pool pool(pod{});
  using systems = tensor<double, extents<2, 5, 5>, P<"data", none, none>>;
  using many = tensor<double, extents<2, 5, 24>, P<"data", none, none>>;
  const auto noise = uniform<systems>(pool, random_key{1});
  const auto x = where(equal(iota_like<1>(noise), iota_like<2>(noise)), noise + 4.0, noise);
  const auto b = uniform<many>(pool, random_key{2});
  const auto check = [&](const auto& solve) {
    const auto together = to_host(solve(x, b));
    const auto alone = to_host(solve(x, index_at<2, 20>(b)));
    for (index_t i = 0; i < 5; ++i) CHECK(together(1, i, 20) == Approx(alone(1, i)));
  };
  check([](const auto& a, const auto& y) { return linalg::solve(a, y); });
  check([](const auto& a, const auto& y) { return linalg::triangular_solve(a, y); });
  check([](const auto& a, const auto& y) {
    return linalg::triangular_solve<linalg::triangular::lower_transposed>(a, y);
  });
  check([](const auto& a, const auto& y) {
    return linalg::triangular_solve<linalg::triangular::upper>(a, y);
  });
}

TEST_CASE("Errors about matrices name the operand, the dimension and the sizes") {
  const device_pool pool(pod{});
  const any_tensor<double> x = two_matrices(pool);
  CHECK(refusal([&] { return linalg::inverse(slice_in_dim<1, 0, 1>(x)); }) ==
        violation::operand_sizes_differ);
  CHECK(refusal([&] { return linalg::cholesky(index_at<1, 0>(index_at<1, 0>(x))); }) ==
        violation::operand_rank_differs);
  CHECK(refusal([&] { return linalg::solve(x, index_at<1, 0>(index_at<1, 0>(x))); }) ==
        violation::operand_rank_differs);
  CHECK(refusal([&] { return linalg::solve(x, slice_in_dim<1, 0, 1>(x)); }) ==
        violation::operand_sizes_differ);
  const any_tensor<double> split = reshard(x, spec_desc{{"", "model", ""}});
  CHECK(refusal([&] { return linalg::qr(split); }) == violation::dimension_is_split);
  CHECK(refusal([&] { return linalg::qr(split, across<"model">); }) == violation::nothing);
  const auto vectors = index_at<1, 0>(x);
  CHECK(refusal([&] { return linalg::householder_product(slice_in_dim<1, 0, 1>(x), vectors); }) ==
        violation::dimension_is_too_short);
  CHECK(refusal([&] { return linalg::householder_product(slice_in_dim<2, 0, 1>(x), vectors); }) ==
        violation::dimension_is_too_short);
  CHECK(refusal([&] { return linalg::householder_product(x, x); }) ==
        violation::operand_rank_differs);
  CHECK(refusal([&] { return linalg::householder_product(x, vectors); }) == violation::nothing);
  CHECK(refusal([&] { return linalg::svd(split); }) == violation::dimension_is_split);
  CHECK(refusal([&] { return linalg::svd(split, across<"model">); }) == violation::nothing);
  CHECK(refusal([&] { return linalg::svd(index_at<1, 0>(index_at<1, 0>(x))); }) ==
        violation::operand_rank_differs);
}

}  // namespace
