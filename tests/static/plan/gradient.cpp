// SPDX-License-Identifier: BSL-1.0
// Gradients on paper: their types, their communication, their memory.
#include <shardwise/layout.hpp>

#include <tuple>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using W1 = sharded_tensor<float, extents<16, 32>, layout<pod, P<none, "model">>>;
using W2 = sharded_tensor<float, extents<32, 16>, layout<pod, P<"model", none>>>;
using B = sharded_tensor<float, extents<16>, layout<pod, P<none>>>;

// The two products of a layer in the layout of Megatron: one all_reduce forward, one backward for
// the input, and those of the batch for the weights.
constexpr auto loss = [](const auto& w1, const auto& w2, const auto& b, const auto& x) {
  auto h = relu(einsum<"bi,ih->bh">(x, w1));
  auto y = reshard<P<"data", none>>(einsum<"bh,ho->bo">(h, w2)) + b;
  return sum(square(y));
};
constexpr auto forward = trace(loss, abstract<W1>(), abstract<W2>(), abstract<B>(), abstract<X>());
static_assert(forward.collectives() == 1);

constexpr auto of_w1 =
    trace(gradient(loss), abstract<W1>(), abstract<W2>(), abstract<B>(), abstract<X>());
static_assert(of_w1.collectives(collective::all_reduce, "model") == 1);
static_assert(of_w1.collectives(collective::all_reduce, "data") == 1);
static_assert(of_w1.collectives() == 2);

constexpr auto of_x =
    trace(gradient<3>(loss), abstract<W1>(), abstract<W2>(), abstract<B>(), abstract<X>());
static_assert(of_x.collectives(collective::all_reduce, "model") == 2);
static_assert(of_x.collectives() == 2);

// The type of each gradient is that of its tensor.
constexpr auto types = [](const auto& w1, const auto& w2, const auto& b, const auto& x) {
  auto [dw1, dw2, db, dx] = gradient<0, 1, 2, 3>(loss)(w1, w2, b, x);
  static_assert(std::is_same_v<decltype(dw1), std::remove_cvref_t<decltype(w1)>>);
  static_assert(std::is_same_v<decltype(db), std::remove_cvref_t<decltype(b)>>);
  static_assert(std::is_same_v<decltype(dx), std::remove_cvref_t<decltype(x)>>);
  return std::tuple{dw1, dw2, db, dx};
};
constexpr auto of_all =
    trace<128>(types, abstract<W1>(), abstract<W2>(), abstract<B>(), abstract<X>());
static_assert(of_all.collectives(collective::all_reduce, "model") == 2);
static_assert(of_all.collectives(collective::all_reduce, "data") == 3);

}  // namespace
