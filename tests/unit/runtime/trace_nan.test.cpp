// SPDX-License-Identifier: BSL-1.0
// The first NaN or infinity of a program is traced to the instruction that computed it.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;
using V = tensor<float, P<"x">, 6>;

V from(const device_pool& pool, std::vector<float> values) { return distribute<V>(pool, values); }
constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("the first NaN is traced through what would be one pass") {
  const device_pool pool{pod{}};
  const V x = from(pool, {4, 3, 2, 1, 0.5F, -0.5F});
  const auto y = exp(log(x * 2.0F) + 1.0F) * 3.0F;
  const auto loss = sum(y);
  const numeric_fault fault = first_nan(loss);
  REQUIRE(fault);
  REQUIRE(fault.is_nan);
  REQUIRE(fault.words.find("= log %") != std::string::npos);
  REQUIRE(fault.words.find(": f32[6@x] has NaN on device 2\n") != std::string::npos);
  REQUIRE(fault.words.find("\n  %") != std::string::npos);
  REQUIRE(fault.words.find("= * %") != std::string::npos);
  // The query computed nothing and left nothing behind.
  pool.reset_counters();
  REQUIRE(std::isnan(to_host(reshard<P<>>(loss))()));
  REQUIRE(pool.counters().flops() > 0);
}

TEST_CASE("what is finite has no fault, and infinities are asked for") {
  const device_pool pool{pod{}};
  const V x = from(pool, {4, 3, 2, 1, 0.5F, 100});
  REQUIRE_FALSE(first_nan(sum(log(x))));
  REQUIRE_FALSE(first_not_finite(sum(log(x))));
  const auto large = exp(x);
  REQUIRE_FALSE(first_nan(large * 2.0F));
  const numeric_fault fault = first_not_finite(large * 2.0F);
  REQUIRE(fault);
  REQUIRE_FALSE(fault.is_nan);
  REQUIRE(fault.device == 2);
  REQUIRE(fault.words.find("= exp %") != std::string::npos);
  REQUIRE(fault.words.find("has an infinity on device 2") != std::string::npos);
}

TEST_CASE("infinities that a program writes are no fault, and what NaN is made of them is") {
  const device_pool pool{pod{}};
  const V x = from(pool, {4, 3, 2, 1, 0.5F, 0.25F});
  const V masked = where(x > 1.0F, x, -infinity);
  REQUIRE_FALSE(first_not_finite(exp(masked)));
  const V nothing = where(x > 9.0F, x, -infinity);
  const auto shifted = nothing - reshard<P<>>(max(nothing));
  const numeric_fault fault = first_not_finite(exp(shifted));
  REQUIRE(fault);
  REQUIRE(fault.is_nan);
  REQUIRE(fault.words.find("= - %") != std::string::npos);
}

TEST_CASE("an input that has a NaN is where it comes from") {
  const device_pool pool{pod{}};
  const V x = from(pool, {1, 2, std::nanf(""), 4, 5, 6});
  const numeric_fault fault = first_nan(sum(sqrt(x) * 2.0F));
  REQUIRE(fault);
  REQUIRE(fault.device == 0);
  REQUIRE(fault.words.find("= input : f32[6@x] has NaN on device 0") != std::string::npos);
}

TEST_CASE("terms of pending sums, narrow fractions and gradients are looked at") {
  const device_pool pool{pod{}};
  using H = tensor<float16, P<"x">, 4>;
  const H h = cast<float16>(full<tensor<float, P<"x">, 4>>(pool, 300.0F));
  const auto square_sum = sum(square(h));
  const numeric_fault over = first_not_finite(square_sum);
  REQUIRE(over.words.find("= square %") != std::string::npos);
  REQUIRE(over.words.find("f16[4@x]") != std::string::npos);

  const V x = from(pool, {4, 0, 2, 1, 0.5F, 0.25F});
  const auto slope = gradient([](const auto& v) { return sum(where(v > 0.0F, sqrt(v), 0.0F)); })(x);
  // The square root has no derivative at 0, and 0 times infinity is NaN: the branch that `where`
  // does not select is computed too.
  const numeric_fault fault = first_nan(slope);
  REQUIRE(fault.is_nan == std::isnan(to_host(slope)(1)));

  using A = tensor<float, P<none, "x">, 4, 4>;
  using B = tensor<float, P<"x", none>, 4, 4>;
  const A a = full<A>(pool, 1e30F);
  const B b = full<B>(pool, 1e30F);
  const auto product = einsum<"ik,kj->ij">(a, b);
  const numeric_fault of_terms = first_not_finite(reshard<P<none, none>>(product));
  REQUIRE(of_terms.words.find("einsum") != std::string::npos);
  REQUIRE(of_terms.words.find("partial sum: x") != std::string::npos);
}

TEST_CASE("everything that is pending in a pool is asked") {
  const device_pool pool{pod{}};
  REQUIRE_FALSE(first_nan(pool));
  const V x = from(pool, {4, 3, 2, 1, 0.5F, 100});
  const V fine = exp(x * 0.01F);
  const V bad = sqrt(fine - 2.0F);
  const numeric_fault fault = first_nan(pool);
  REQUIRE(fault);
  REQUIRE(fault.words.find("= sqrt %") != std::string::npos);
  REQUIRE(first_not_finite(pool).instruction == fault.instruction);
  REQUIRE(std::isnan(to_host(bad)(3)));

  // What a gradient is recording has no values yet, and is left out.
  const auto slope = gradient([&](const auto& z) {
    const V doubled = z * 2.0F;
    REQUIRE_FALSE(first_nan(pool));
    return sum(doubled);
  })(x);
  REQUIRE(to_host(slope)(0) == 2.0F);
}

TEST_CASE("a program that is ready is asked on its inputs") {
  const device_pool pool{pod{}};
  constexpr auto recorded =
      trace_program([](const auto& v, const auto& s) { return sum(log(v) * s); }, abstract<V>(),
                    abstract<scalar<float, pod>>());
  const prepared_program ready = prepare<float>(recorded);
  REQUIRE_FALSE(first_nan(ready, from(pool, {1, 2, 3, 4, 5, 6}), 2.0F));
  const V bad = from(pool, {1, -2, 3, 4, 5, 6});
  const numeric_fault fault = first_nan(ready, bad, 2.0F);
  REQUIRE(fault);
  REQUIRE(fault.device == 0);
  REQUIRE(fault.words.find("= log %0 : f32[6@x] has NaN") != std::string::npos);
  REQUIRE(fault.words.find("\n  %0 = input : f32[6@x]\n") != std::string::npos);
}

TEST_CASE("several owners are told of the shards of their own devices") {
  std::vector<numeric_fault> faults(2);
  support::run_all_owners(pod::value, {0, 0, 1, 1}, [&](const device_pool& pool) {
    const V x = from(pool, {4, 3, 2, 1, 0.5F, -0.5F});
    faults[static_cast<std::size_t>(pool.state()->link()->self())] =
        first_nan(reshard<P<>>(sum(log(x))) * 2.0F);
  });
  // The second device has the shard with the NaN; the first gets it through the reduction.
  REQUIRE(faults[1].device == 2);
  REQUIRE(faults[1].words.find("= log %") != std::string::npos);
  REQUIRE(faults[0].words.find("= all_reduce %") != std::string::npos);
}
