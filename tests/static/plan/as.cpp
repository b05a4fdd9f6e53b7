// SPDX-License-Identifier: BSL-1.0
// The layout of a result, asked for where an operation could give several: what moves then.
#include <shardwise/layout.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", "model">, 8, 16>;
using W = tensor<P<"model", none>, 16, 32>;

template <class Target>
constexpr auto product =
    [](const auto& x, const auto& w) { return einsum<"bi,io->bo">(x, w, as<Target>); };
template <class Y>
using layout_in = typename Y::layout_type;
template <class Target, class A, class B>
using product_of = layout_in<decltype(product<Target>(abstract<A>(), abstract<B>()))>;

// A pending sum is reduced and scattered, or reduced, or stays what it is.
static_assert(
    std::is_same_v<product_of<P<"data", "model">, X, W>, layout<pod, P<"data", "model">>>);
constexpr auto scattered = trace(product<P<"data", "model">>, abstract<X>(), abstract<W>());
static_assert(scattered.collectives() == 1 &&
              scattered.collectives(collective::reduce_scatter, "model") == 1);
constexpr auto reduced = trace(product<P<"data", none>>, abstract<X>(), abstract<W>());
static_assert(reduced.collectives() == 1 &&
              reduced.collectives(collective::all_reduce, "model") == 1);
using pending = layout<pod, P<"data", none>, partial<"model">>;
static_assert(trace(product<pending>, abstract<X>(), abstract<W>()).collectives() == 0);

// What would be refused fetches what an error would propose: one axis splits both free dimensions.
using A = tensor<P<"model", none>, 8, 16>;
using B = tensor<P<none, "model">, 16, 32>;
static_assert(!is_legal<einsum_of<"bi,io->bo">, paper_of<decltype(abstract<A>())>,
                        paper_of<decltype(abstract<B>())>>);
static_assert(std::is_same_v<product_of<P<"model", none>, A, B>, layout<pod, P<"model", none>>>);
constexpr auto gathered = trace(product<P<none, "model">>, abstract<A>(), abstract<B>());
static_assert(gathered.collectives() > 0);

// Reshapes whose splits would move, repeats, look-ups, convolutions.
constexpr auto cut = [](const auto& x) { return reshape<extents<128>>(x, as<P<"data">>); };
static_assert(std::is_same_v<layout_in<decltype(cut(abstract<X>()))>, layout<pod, P<"data">>>);
static_assert(trace(cut, abstract<X>()).collectives(collective::all_gather, "model") == 1);
constexpr auto repeated = [](const auto& x) {
  return broadcast_to<extents<4, 8, 16>>(x, as<P<none, none, "model">>);
};
static_assert(trace(repeated, abstract<X>()).collectives() == 1);
using ids = sharded_tensor<int, extents<6>, layout<pod, P<none>>>;
constexpr auto rows = [](const auto& table, const auto& at) {
  return take<0>(table, at, as<P<none, "model">>);
};
static_assert(trace(rows, abstract<W>(), abstract<ids>())
                  .collectives(collective::reduce_scatter, "model") == 1);
using images = tensor<P<"data", "model", none, none>, 4, 8, 6, 6>;
using weights = tensor<P<none, "model", none, none>, 4, 8, 3, 3>;
constexpr auto convolved = [](const auto& x, const auto& w) {
  return convolution(x, w, as<P<"data", none, none, none>>);
};
static_assert(trace(convolved, abstract<images>(), abstract<weights>())
                  .collectives(collective::all_reduce, "model") == 1);
// Three operands and an ellipsis.
using V = tensor<P<none, none>, 32, 4>;
constexpr auto chain = [](const auto& x, const auto& w, const auto& v) {
  return einsum<"bi,io,oj->bj">(x, w, v, as<P<"data", none>>);
};
static_assert(
    std::is_same_v<layout_in<decltype(chain(abstract<X>(), abstract<W>(), abstract<V>()))>,
                   layout<pod, P<"data", none>>>);
constexpr auto leading = [](const auto& x, const auto& w) {
  return einsum<"...i,io->...o">(x, w, as<P<"data", none>>);
};
static_assert(trace(leading, abstract<X>(), abstract<W>()).collectives() == 1);

// Its gradient has the dual: what was reduced and scattered is gathered.
constexpr auto loss = [](const auto& x, const auto& w) {
  return sum(square(einsum<"bi,io->bo">(x, w, as<P<"data", "model">>)));
};
static_assert(trace<128>(gradient<0, 1>(loss), abstract<X>(), abstract<W>())
                  .collectives(collective::all_gather, "model") >= 1);

}  // namespace
