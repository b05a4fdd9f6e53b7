// SPDX-License-Identifier: BSL-1.0
// Tensors of one number with the layout of another.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... Sizes>
using tensor = sharded_tensor<T, extents<Sizes...>, layout<pod, Spec>>;
using X = tensor<float, P<"data", "model">, 4, 6>;

constexpr auto fills = [](const auto& x) {
  return full_like(x, 0.5F) + ones_like(x * 2) * 2 + full_like(x * 2, 0);
};
static_assert(trace(fills, abstract<X>()).collectives() == 0);

TEST_CASE("A number has the type, the extents and the layout of a tensor") {
  const device_pool pool(pod{});
  // The elements are not read, not even NaN.
  const auto x = full<X>(pool, std::numeric_limits<float>::quiet_NaN());
  const auto y = full_like(x, 3);
  STATIC_REQUIRE(std::is_same_v<typename decltype(y)::layout_type, X::layout_type>);
  CHECK(to_host(y) == to_host(full<X>(pool, 3.0F)));
  CHECK(to_host(fills(x)) == to_host(full<X>(pool, 2.5F)));
  const any_tensor<float> untyped = x;
  CHECK(to_host(fills(untyped)) == to_host(fills(x)));
  CHECK(full_like(untyped, 1.0F).layout() == X::layout_type::value);
  // A large integer, a truth value, and a number that is a tensor.
  const auto large = std::numeric_limits<std::int64_t>::max() - 1;
  CHECK(to_host(full_like(iota_like<0>(x), large))(3, 5) == large);
  CHECK(to_host(full_like(x > 0, true))(2, 2));
  CHECK(to_host(full_like(x, reshard<P<>>(sum(full<X>(pool, 1.0F)))))(1, 1) == 24);
  CHECK(static_cast<float>(to_host(ones_like(cast<bfloat16>(x)))(3, 0)) == 1);
  CHECK(to_host(ones_like(x > 0))(3, 0));
  CHECK(to_host(zeros_like(x)) == to_host(zeros<X>(pool)));
  CHECK(to_host(zeros_like(untyped * 2)) == to_host(zeros_like(x)));
  CHECK(to_host(x)(0, 0) != to_host(x)(0, 0));
}

TEST_CASE("Only the number has a gradient") {
  const device_pool pool(pod{});
  const auto x = iota<X>(pool);
  const auto finished_sum = [](const auto& v) { return reshard<P<>>(sum(v)); };
  const auto slope =
      gradient([=](const auto& v) { return sum(v * full_like(v, finished_sum(v))); })(x);
  // The sum times itself.
  CHECK(to_host(slope)(3, 1) == 2 * 276);
}

TEST_CASE("A pending tensor is refused") {
  const device_pool pool(pod{});
  const any_tensor<float> terms = sum<1>(iota<X>(pool));
  try {
    (void)full_like(terms, 1.0F);
    FAIL("the sum of the numbers would be another number");
  } catch (const error& refused) {
    CHECK(refused.code() == violation::partial_value_is_read);
  }
}

}  // namespace
