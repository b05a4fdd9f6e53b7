// SPDX-License-Identifier: BSL-1.0
// Layers in sequence: their instructions and their costs.
#include <shardwise/nn/scan.hpp>
#include <shardwise/paper.hpp>

#include <array>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 8>, axis<"model", 16>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 1024, 512>;
using W = tensor<P<none, "model">, 512, 512>;
using B = tensor<P<none>, 512>;
using stacked_w = tensor<P<none, none, "model">, 12, 512, 512>;
using stacked_b = tensor<P<none, none>, 12, 512>;

template <class Weight, class Bias>
struct layer {
  Weight w;
  Bias b;

  constexpr auto operator()(const auto& x) const {
    auto h = reshard<P<"data", none>>(einsum<"bi,io->bo">(x, w));
    return relu(h + b) + x;
  }
};
template <class Weight, class Bias>
layer(Weight, Bias) -> layer<Weight, Bias>;
constexpr auto apply = [](const auto& h, const auto& each) { return each(h); };
constexpr auto apply_parts = [](const auto& h, const auto& w, const auto& b) {
  return layer{w, b}(h);
};

// A list of layers: 4 calls of one body.
constexpr auto listed = [](const auto& x, const auto& w0, const auto& w1, const auto& b) {
  const std::array layers{layer{w0, b}, layer{w1, b}, layer{w0, b}, layer{w1, b}};
  return scan(apply, x, layers);
};
constexpr auto four =
    trace_program(listed, abstract<X>(), abstract<W>(), abstract<W>(), abstract<B>());
static_assert(four.body_count == 1 && four.count == 4 + 4);
static_assert(ledger_of(four).collectives("model") == 4);

// Stacked tensors: twelve layers with a single body.
constexpr auto stacked = [](const auto& x, const auto& w, const auto& b) {
  return scan(apply_parts, x, w, b);
};
constexpr auto twelve =
    trace_program<128>(stacked, abstract<X>(), abstract<stacked_w>(), abstract<stacked_b>());
static_assert(twelve.body_count == 1);
static_assert(ledger_of(twelve).collectives("model") == 12);
static_assert(ledger_of(twelve).flops() > index_t{12} * 2 * 128 * 512 * 32);

// Its gradient, in which each layer is inlined.
constexpr auto loss = [](const auto& x, const auto& w0, const auto& w1, const auto& b) {
  return reshard<P<>>(sum(listed(x, w0, w1, b)));
};
constexpr auto costs = ledger_of(trace_program<256>(gradient<1, 2>(loss), abstract<X>(),
                                                    abstract<W>(), abstract<W>(), abstract<B>()));
static_assert(costs.collectives("data") == 2);

}  // namespace
