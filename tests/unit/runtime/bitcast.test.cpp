// SPDX-License-Identifier: BSL-1.0
// The bits of elements, read as those of another type.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... Sizes>
using tensor = sharded_tensor<T, extents<Sizes...>, layout<pod, Spec>>;
using X = tensor<float, P<"data", "model">, 4, 6>;

TEST_CASE("Elements of the same width keep their layout") {
  const device_pool pool(pod{});
  const auto x = generate<X>(pool, [](auto at) { return static_cast<float>(at[0] - at[1]) / 3; });
  const tensor<std::int32_t, P<"data", "model">, 4, 6> bits = bitcast<std::int32_t>(x);
  CHECK(to_host(bits)(3, 1) == std::bit_cast<std::int32_t>(to_host(x)(3, 1)));
  CHECK(to_host(bitcast<float>(bits)) == to_host(x));
  CHECK(pool.counters().collectives() == 0);
  // The sign is the highest bit, also of -0 and of a view.
  const auto sign = bitwise_and(right_shift(bitcast<std::int32_t>(transpose<1, 0>(-x)), 31), 1);
  CHECK(to_host(sign)(0, 0) == 1);
  CHECK(to_host(sign)(1, 0) == 0);
  CHECK(to_host(sign)(0, 1) == 1);
  const any_tensor<float> untyped = x;
  const any_tensor<std::int32_t> read = bitcast<std::int32_t>(untyped);
  CHECK(to_host(read) == to_host(bits));
}

TEST_CASE("Narrower elements are a new dimension, the lowest bits first") {
  const device_pool pool(pod{});
  using I = tensor<std::int32_t, P<"data">, 2>;
  const auto x = distribute<I>(pool, std::vector<std::int32_t>{0x04030201, -2});
  const tensor<std::uint8_t, P<"data", none>, 2, 4> bytes = bitcast<std::uint8_t>(x);
  const auto host = to_host(bytes);
  CHECK(std::vector<int>{host(0, 0), host(0, 1), host(0, 2), host(0, 3)} ==
        std::vector<int>{1, 2, 3, 4});
  CHECK(std::vector<int>{host(1, 0), host(1, 1), host(1, 2), host(1, 3)} ==
        std::vector<int>{254, 255, 255, 255});
  CHECK(to_host(bitcast<std::int32_t>(bytes)) == to_host(x));
  // Two halves of 16 bits each: the upper half of a float is a bfloat16.
  const auto number = cast<float>(x);
  const auto halves = to_host(bitcast<bfloat16>(number));
  CHECK(static_cast<float>(halves(1, 1)) == -2);
  CHECK(static_cast<float>(halves(1, 0)) == 0);
}

TEST_CASE("Several elements become one, if each device has all of them") {
  const device_pool pool(pod{});
  using I = tensor<std::int32_t, P<none, "model">, 3, 2>;
  const auto x = iota<I>(pool);
  const auto wide = bitcast<std::int64_t>(x, across<"model">);
  CHECK(to_host(wide)(2) == 4 + (std::int64_t{5} << 32));
  CHECK(pool.counters().collectives() == 1);
  const any_tensor<std::int32_t> untyped = x;
  try {
    (void)bitcast<std::int64_t>(untyped);
    FAIL("each device has one half");
  } catch (const error& refused) {
    CHECK(refused.code() == violation::dimension_is_split);
  }
  // Without elements there is nothing to copy.
  CHECK(to_host(bitcast<std::int64_t>(zeros<tensor<float, P<"data", none>, 0, 2>>(pool)))
            .elements()
            .empty());
}

}  // namespace
