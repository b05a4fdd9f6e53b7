// SPDX-License-Identifier: BSL-1.0
// Rotary embeddings of positions that are counted or given, compared with plain loops.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
constexpr index_t batch = 3, positions = 5, size = 6;
using stream = P<"data", none, none>;
using X = tensor<double, stream, batch, positions, size>;
using untyped = any_tensor<double>;

/// Requires a tensor to be `x`, whose halves of rows are rotated by the angles of these positions.
void require_turned(const auto& made, const auto& x, const std::vector<std::int32_t>& at) {
  const auto have = to_host(made), from = to_host(x);
  const index_t half = size / 2;
  for (index_t b = 0; b < batch; ++b)
    for (index_t s = 0; s < positions; ++s)
      for (index_t p = 0; p < half; ++p) {
        const double angle = at[static_cast<std::size_t>(s)] *
                             std::pow(10000.0, -2.0 * static_cast<double>(p) / double{size});
        const auto i = static_cast<std::size_t>((b * positions + s) * size + p);
        const auto j = i + static_cast<std::size_t>(half);
        const double first = from.elements()[i], second = from.elements()[j];
        CAPTURE(b, s, p);
        REQUIRE(have.elements()[i] ==
                Approx(first * std::cos(angle) - second * std::sin(angle)).margin(1e-12));
        REQUIRE(have.elements()[j] ==
                Approx(second * std::cos(angle) + first * std::sin(angle)).margin(1e-12));
      }
}

}  // namespace

TEST_CASE("positions are counted, begin at a number, or are given") {
  const device_pool pool{pod{}};
  const auto x = normal<X>(pool, random_key{1});
  const nn::rotary<> turn;
  // Two texts in one row.
  const std::vector<std::int32_t> packed{0, 1, 2, 0, 1}, all{0, 1, 2, 3, 4}, later{7, 8, 9, 10, 11};
  const auto at = distribute<tensor<std::int32_t, P<none>, positions>>(pool, packed);
  const auto first = full<tensor<std::int32_t, P<>>>(pool, 7);
  require_turned(turn(x), x, all);
  require_turned(turn(x, first), x, later);
  require_turned(turn(x, at), x, packed);

  // Of split positions.
  const auto y = reshard<P<none, "data", none>>(x);
  require_turned(turn(y), x, all);
  require_turned(turn(y, at), x, packed);
  require_turned(turn(y, reshard<P<"data">>(at)), x, packed);

  // Of a number of positions that is known at run time.
  using open = tensor<double, stream, batch, dyn, size>;
  const open z = as<open>(untyped(x));
  const auto open_at = as<tensor<std::int32_t, P<none>, dyn>>(any_tensor<std::int32_t>(at));
  require_turned(turn(z, open_at), x, packed);
  require_turned(turn(z, at), x, packed);

  // Of layouts that are values.
  const untyped any_x = x;
  const any_tensor<std::int32_t> any_at = at, any_first = first;
  require_turned(turn(any_x), x, all);
  require_turned(turn(any_x, any_first), x, later);
  require_turned(turn(any_x, any_at), x, packed);
  REQUIRE_THROWS_WITH(turn(untyped(full<double>(pool, 1.0, {6}, spec_desc{{""}}))),
                      contains("operand_rank_differs"));
}

TEST_CASE("the gradient of given positions turns back") {
  const device_pool pool{pod{}};
  const auto x = normal<X>(pool, random_key{1}), w = normal<X>(pool, random_key{2});
  const auto at = distribute<tensor<std::int32_t, P<none>, positions>>(
      pool, std::vector<std::int32_t>{0, 1, 2, 0, 1});
  const auto loss = [&](const auto& each) {
    return reshard<P<>>(sum(nn::rotary<>{}(each, at) * w));
  };
  require_turned(gradient(loss)(x), w, {0, -1, -2, 0, -1});
}
