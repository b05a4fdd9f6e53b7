// SPDX-License-Identifier: BSL-1.0
// Replicated values as pending sums: what is added to such a sum needs no reduction before.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <type_traits>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<4, 8>, layout<pod, P<"data", "model">>>;
using W = sharded_tensor<float, extents<8, 8>, layout<pod, P<"model", none>>>;
using Bias = sharded_tensor<float, extents<8>, layout<pod, P<none>>>;
using Column = sharded_tensor<float, extents<4, 1>, layout<pod, P<"data", none>>>;

constexpr auto late = [](const auto& x, const auto& w, const auto& b) {
  return reshard<P<"data", "model">>(einsum<"bi,io->bo">(x, w) + as_partial<"model">(b));
};
constexpr auto early = [](const auto& x, const auto& w, const auto& b) {
  return reshard<P<"data", none>>(einsum<"bi,io->bo">(x, w)) + b;
};

template <class A, class B>
int differences(const A& a, const B& b) {
  const auto x = to_host(a), y = to_host(b);
  int count = 0;
  for (index_t i = 0; i < x.size(); ++i) count += x.data()[i] == y.data()[i] ? 0 : 1;
  return count;
}

}  // namespace

TEST_CASE("A replicated value is one term of a pending sum") {
  device_pool pool{pod{}};
  const auto b = iota<Bias>(pool) + 1.0F;
  const auto both = as_partial<"data", "model">(b);
  static_assert(std::is_same_v<decltype(both)::layout_type,
                               layout<pod, P<none>, partial<by("data", "model")>>>);
  for (int device = 0; device < 8; ++device)
    CHECK(local(both, device).elements()[7] == (device == 0 ? 8.0F : 0.0F));
  CHECK(differences(reshard<P<none>>(both), b) == 0);
  CHECK(differences(reshard<P<"model">>(both), b) == 0);
  // A value that another axis splits, and one whose layout is a value.
  const auto column = iota<Column>(pool);
  CHECK(differences(reshard<P<"data", none>>(as_partial<"model">(column)), column) == 0);
  const any_tensor<float> any = column;
  CHECK(differences(reshard(as_partial<"model">(any), spec_desc{{"data", ""}}), column) == 0);
  CHECK_THROWS_WITH(as_partial<"data">(any),
                    Catch::Contains("dimension_is_split") && Catch::Contains("axis 'data'"));
}

TEST_CASE("A bias is added to a pending product, and its gradient needs no communication") {
  device_pool pool{pod{}};
  const auto x = iota<X>(pool) - 15.0F;
  const auto w = iota<W>(pool) - 31.0F;
  const auto b = iota<Bias>(pool);
  CHECK(differences(late(x, w, b), early(x, w, b)) == 0);
  constexpr auto cost = trace(late, abstract<X>(), abstract<W>(), abstract<Bias>());
  static_assert(cost.collectives() == 1 && cost.collectives(collective::reduce_scatter) == 1);

  constexpr auto slope = [](const auto& v) { return sum(as_partial<"model">(v) * 3.0F); };
  static_assert(trace(gradient(slope), abstract<Bias>()).collectives() == 0);
  CHECK(differences(gradient(slope)(b), full<Bias>(pool, 3.0F)) == 0);
  const auto loss = [&](const auto& f) {
    return gradient([&](const auto& v) {
      const auto y = f(stop_gradient(x), stop_gradient(w), v);
      return sum(y * y);
    })(b);
  };
  CHECK(differences(loss(late), loss(early)) == 0);
}
