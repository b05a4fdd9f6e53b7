// SPDX-License-Identifier: BSL-1.0
// What may be applied to each term of a pending sum, and what only to the sum: the laws hold as
// long as all terms are finite and exact.
#include "support/catch.hpp"
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
struct four : mesh<axis<"x", 4>> {};
struct one : mesh<axis<"x", 1>> {};
template <class T, class Mesh = four>
using tensor = sharded_tensor<T, extents<4>, layout<Mesh, P<"x">>>;

template <class Mesh = four>
auto of_terms(const device_pool& pool, const std::vector<float>& terms) {
  return sum(distribute<tensor<float, Mesh>>(pool, terms));
}

}  // namespace

TEST_CASE("a sum is finished before it is narrowed") {
  const device_pool pool(four{}, 2);
  const auto large = of_terms(pool, {70000, -69999, 0, 0});
  const auto near = of_terms(pool, {1000001, -1000000, 0, 0});
  CHECK(static_cast<float>(to_host(cast<float16>(reshard<P<>>(large)))()) == 1.0F);
  CHECK(static_cast<float>(to_host(cast<bfloat16>(reshard<P<>>(near)))()) == 1.0F);
  const any_tensor<float> any = near;
  CHECK_THROWS_AS(cast<bfloat16>(any), error);
  CHECK_THROWS_AS(cast<float16>(any), error);
  // Each of its terms is a double.
  CHECK(to_host(reshard<P<>>(cast<double>(near)))() == 1.0);
}

TEST_CASE("a cotangent that is narrowed is reduced before") {
  const device_pool pool(four{}, 2);
  // The cotangent of `w` is a sum over the devices of x, whose terms are beyond the range of w.
  const auto x = distribute<tensor<float>>(pool, std::vector<float>{70000, -69999, 1, 0});
  const auto w =
      full<sharded_tensor<float16, extents<>, layout<four, P<>>>>(pool, static_cast<float16>(1.0F));
  const auto loss = [](const auto& a, const auto& b) {
    return reshard<P<>>(sum(cast<float>(a) * b));
  };
  CHECK(static_cast<float>(to_host(gradient(loss)(w, x))()) == 2.0F);
}

TEST_CASE("the mean of narrow elements is a sum of terms that are rounded") {
  const device_pool pool(four{}, 2);
  const auto x = distribute<tensor<float>>(pool, std::vector<float>{4, 4, 4, 8});
  const auto mean_of = mean(cast<bfloat16>(x));
  STATIC_REQUIRE(decltype(mean_of)::layout_type::value.pending == 1);
  CHECK(static_cast<float>(to_host(reshard<P<>>(mean_of))()) == 5.0F);
  // Gradients that are moved as narrow elements, which the caller asks for.
  using W = sharded_tensor<float, extents<>, layout<four, P<>>>;
  CHECK(to_host(optim::reduced<W, bfloat16>(sum(x), 0.25))() == 5.0F);
}

TEST_CASE("a pending sum is not multiplied by infinity, nor divided by 0") {
  const device_pool pool(four{}, 2);
  const auto x = of_terms(pool, {2, -1, 0, 0});
  const any_tensor<float> any = x;
  const auto rule = contains("partial_value_is_read");
  CHECK_THROWS_WITH(x * infinite, contains("(operand 0); reshard a pending sum before"));
  CHECK_THROWS_WITH(infinite * x, contains("(operand 1); reshard a pending sum before"));
  CHECK_THROWS_WITH(x * infinite, rule);
  CHECK_THROWS_WITH(-infinite * x, rule);
  CHECK_THROWS_WITH(x * 1e300, rule);
  CHECK_THROWS_WITH(x / 0, rule);
  CHECK_THROWS_WITH(x / -0.0F, rule);
  CHECK_THROWS_WITH(any * infinite, rule);
  CHECK_THROWS_WITH(any / 0.0F, rule);
  any_tensor<float> changed = any;
  CHECK_THROWS_WITH(changed *= infinite, rule);
  // What has the same terms, and what is finished, is computed.
  CHECK(to_host(reshard<P<>>(x / infinite))() == 0.0F);
  CHECK(std::isnan(to_host(reshard<P<>>(x * std::nanf("")))()));
  CHECK(to_host(reshard<P<>>(x) * infinite)() == infinite);
  CHECK(to_host(reshard<P<>>(x) / 0)() == infinite);
  const device_pool alone(one{});
  CHECK(to_host(reshard<P<>>(of_terms<one>(alone, {2, -1, 0, 0}) * infinite))() == infinite);
}

TEST_CASE("a mean without elements is NaN, and a pending variance has terms") {
  const device_pool pool(four{}, 2);
  using None = sharded_tensor<float, extents<0>, layout<four, P<"x">>>;
  CHECK(std::isnan(to_host(reshard<P<>>(mean(zeros<None>(pool))))()));
  CHECK(std::isnan(to_host(reshard<P<>>(variance(zeros<None>(pool), across<"x">)))()));
  const auto all = distribute<tensor<float>>(pool, std::vector<float>{1, 2, 3, 4});
  CHECK_THROWS_WITH(variance(all, correction{4}, across<"x">), contains("partial_value_is_read"));
  CHECK(to_host(variance(reshard<P<none>>(all), correction{4}))() == infinite);
}
