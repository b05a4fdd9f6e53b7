// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>> {};
struct rows : layout<pod, P<"x">> {};
using X = sharded_tensor<float, extents<4>, rows>;
using S = scalar<float, pod>;

}  // namespace

// Valid programs never select the conversion of a tensor to a number, which is an error.
TEST_CASE("tensors stand beside numbers in variants, optionals and choices") {
  device_pool pool{pod{}};
  const auto one = full<S>(pool, 1.0F);
  std::variant<float, S> either = one;
  CHECK(either.index() == 1);
  either = 2.0F;
  CHECK(either.index() == 0);
  std::optional<S> perhaps = one;
  std::vector<any_tensor<float>> all{one, one * 2.0F};
  const bool first = perhaps.has_value();
  S chosen = first ? one : all.empty() ? S(one + one) : S(one * 3.0F);
  chosen += one;
  chosen *= 2;
  CHECK(to_host(chosen).value() == 4.0F);
  CHECK(to_host(all.back() - 0.5F).value() == 1.5F);
}

TEST_CASE("operators of tensors and numbers are those of tensors") {
  device_pool pool{pod{}};
  const auto x = distribute<X>(pool, {1, 2, 3, 4});
  const auto loss = full<S>(pool, 2.0F);
  STATIC_REQUIRE(std::is_same_v<decltype(x > 2)::value_type, bool>);
  CHECK(to_host(where(x >= loss, x, 0 * x) + 1 / loss) ==
        to_host(distribute<X>(pool, {0.5F, 2.5F, 3.5F, 4.5F})));
}
