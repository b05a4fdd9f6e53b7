// SPDX-License-Identifier: BSL-1.0
// Gradients on paper: their types, their communication, their memory.
#include <shardwise/paper.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using W1 = sharded_tensor<float, extents<16, 32>, layout<pod, P<none, "model">>>;
using W2 = sharded_tensor<float, extents<32, 16>, layout<pod, P<"model", none>>>;
using B = sharded_tensor<float, extents<16>, layout<pod, P<none>>>;

// The two products of a layer in the layout of Megatron: one all_reduce forward, one backward for
// the input, and those over the batch for the weights.
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

// The gradient of a nest has the same structure.
template <class A, class B>
struct layer {
  A weight;
  B bias;
};
constexpr auto of_nest = [](const auto& w1, const auto& b, const auto& x) {
  const layer<std::remove_cvref_t<decltype(w1)>, std::remove_cvref_t<decltype(b)>> parameters{w1,
                                                                                              b};
  const auto dense = [](const auto& p, const auto& in) {
    return sum(square(einsum<"bi,io->bo">(in, p.weight) + p.bias));
  };
  auto made = gradient(dense)(parameters, x);
  static_assert(std::is_same_v<decltype(made), std::remove_const_t<decltype(parameters)>>);
  auto [dw, db] = gradient([](const auto& p, const auto& in) {
    return sum(square(einsum<"bi,io->bo">(in, std::get<0>(p)) + std::get<1>(p)));
  })(std::tuple{w1, b}, x);
  static_assert(std::is_same_v<decltype(dw), std::remove_cvref_t<decltype(w1)>>);
  return std::tuple{made.weight, made.bias};
};
using B1 = sharded_tensor<float, extents<32>, layout<pod, P<"model">>>;
static_assert(trace<128>(of_nest, abstract<W1>(), abstract<B1>(), abstract<X>())
                  .collectives(collective::all_reduce, "data") == 2);

// On request a gradient is left pending, as its type shows, and cannot be read until it is reduced:
// here directly into the shards of an optimizer.
constexpr auto left = [](const auto& w1, const auto& x) {
  auto of = [](const auto& w, const auto& in) { return sum(square(einsum<"bi,ih->bh">(in, w))); };
  auto dw = gradient(of, left_pending<"data">)(w1, x);
  using given = typename decltype(dw)::layout_type;
  static_assert(std::is_same_v<given, layout<pod, P<none, "model">, partial<"data">>>);
  static_assert(!is_legal<pointwise<functions::sqrt>, paper_of<decltype(dw)>>);
  return reshard<P<"data", "model">>(dw);
};
constexpr auto of_left = trace(left, abstract<W1>(), abstract<X>());
static_assert(of_left.collectives() == 1 && of_left.collectives(collective::reduce_scatter) == 1);

// Of a nest on several meshes one has the axis.
struct stages : mesh<axis<"stage", 2>> {};
using S = sharded_tensor<float, extents<8>, layout<stages, P<none>>>;
using on_both = std::tuple<decltype(abstract<W1>()), decltype(abstract<S>())>;
static_assert(left_pending_over<"stage", "data">::check<on_both>().ok());
static_assert(left_pending_over<"data", "batch">::check<on_both>() ==
              diagnosis{.rule = violation::axis_is_not_in_mesh, .axis = "batch"});

// What JAX calls reduced axes of an argument is such a request: each factor of a product may have
// a gradient that is pending over them, and multiples of an argument too. Nothing is communicated.
template <class X, class Layout>
inline constexpr bool is_laid_out = std::is_same_v<typename X::layout_type, Layout>;
using R = sharded_tensor<float, extents<8>, layout<pod, P<none>>>;
constexpr auto of_both = [](const auto& a, const auto& b) {
  auto [da, db] = gradient<0, 1>([](const auto& u, const auto& v) { return sum(u * v); },
                                 left_pending<"data">)(a, b);
  static_assert(is_laid_out<decltype(da), layout<pod, P<none>, partial<"data">>> &&
                is_laid_out<decltype(db), layout<pod, P<none>, partial<"data">>>);
  return std::tuple{da, db};
};
static_assert(trace(of_both, abstract<R>(), abstract<R>()).collectives() == 0);
constexpr auto of_multiple = [](const auto& a) {
  auto da = gradient([](const auto& u) { return sum(u * 2.0F); }, left_pending<"data", "model">)(a);
  static_assert(is_laid_out<decltype(da), layout<pod, P<none>, partial<by("data", "model")>>>);
  return da;
};
static_assert(trace(of_multiple, abstract<R>()).collectives() == 0);
// An axis that splits the argument cannot be pending in its gradient.
constexpr auto of_split = [](const auto& a) {
  auto da = gradient([](const auto& u) { return sum(u * u); }, left_pending<"data">)(a);
  static_assert(is_laid_out<decltype(da), layout<pod, P<"data">>>);
  return da;
};
static_assert(trace(of_split, abstract<sharded_tensor<float, extents<8>, layout<pod, P<"data">>>>())
                  .collectives() == 0);

// The gradient of a reshape is a reshape: the axes of a dimension that is divided are joined again,
// and those of dimensions that are merged part again, without communication.
struct cube : mesh<axis<"x", 2>, axis<"y", 2>, axis<"z", 2>> {};
template <class Spec, index_t... N>
using on_cube = sharded_tensor<float, extents<N...>, layout<cube, Spec>>;
template <class From, class Target>
constexpr bool reshapes_back() {
  using To = decltype(abstract<Target>());
  constexpr auto once = [](const auto& x) {
    using made = std::remove_cvref_t<decltype(reshape<typename To::extents_type>(x))>;
    static_assert(is_laid_out<made, typename To::layout_type>);
    return sum(square(reshape<typename To::extents_type>(x)));
  };
  constexpr auto slope = [once](const auto& x) {
    auto dx = gradient(once)(x);
    static_assert(is_laid_out<decltype(dx), typename decltype(abstract<From>())::layout_type>);
    return dx;
  };
  return trace(slope, abstract<From>()).collectives() == 0;
}
static_assert(reshapes_back<on_cube<P<by("x", "y")>, 8>, on_cube<P<"x", "y">, 2, 4>>());
static_assert(
    reshapes_back<on_cube<P<by("x", "y", "z")>, 8>, on_cube<P<"x", by("y", "z")>, 2, 4>>());
static_assert(
    reshapes_back<on_cube<P<by("x", "y", "z")>, 8>, on_cube<P<"x", "y", "z">, 2, 2, 2>>());
static_assert(
    reshapes_back<on_cube<P<by("x", "y"), "z">, 4, 2>, on_cube<P<"x", "y", "z">, 2, 2, 2>>());
static_assert(reshapes_back<on_cube<P<"x", "y">, 2, 2>, on_cube<P<by("x", "y")>, 4>>());
static_assert(
    reshapes_back<on_cube<P<"x", "y", "z">, 2, 2, 2>, on_cube<P<by("x", "y", "z")>, 8>>());
static_assert(
    reshapes_back<on_cube<P<by("x", "y"), "z">, 4, 2>, on_cube<P<by("x", "y", "z")>, 8>>());
static_assert(
    reshapes_back<on_cube<P<"x", "y", "z">, 2, 2, 2>, on_cube<P<by("x", "y"), "z">, 4, 2>>());

// The gradient of a gather is a reduce_scatter: the weights of a sharded data parallel step.
using Ws = sharded_tensor<float, extents<16, 32>, layout<pod, P<"data", none>>>;
constexpr auto gathered = [](const auto& w, const auto& x) {
  return sum(square(einsum<"bi,ih->bh">(x, reshard<P<none, none>>(w))));
};
constexpr auto of_gathered = trace(gradient(gathered), abstract<Ws>(), abstract<X>());
static_assert(of_gathered.collectives(collective::all_gather) == 1);
static_assert(of_gathered.collectives(collective::reduce_scatter) == 1);
static_assert(of_gathered.collectives() == 2);

// Gradients of gradients, by taking them twice.
constexpr auto twice = [](const auto& w, const auto& x) {
  return sum(gradient([](const auto& v, const auto& y) { return sum(v * v * v * y); })(w, x));
};
using V = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;
constexpr auto of_twice = trace_program<128>(gradient(twice), abstract<V>(), abstract<V>());
static_assert(of_twice.values[of_twice.results[0]] ==
              tensor_desc{element::f32, {8}, layout<pod, P<"data">>::value});
static_assert(ledger_of(of_twice).collectives() == 0);

// Unused values are not recorded: the gradient of a sum needs neither the sum nor its operand.
constexpr auto ones =
    trace_program(gradient([](const auto& v) { return sum(v * 2.0F); }), abstract<V>());
static_assert(ledger_of(ones).flops() == 0);

// The maximum that a softmax subtracts is a constant of its gradient: nothing is compared with it,
// and no collective follows the two of the forward pass.
using Logits = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", "model">>>;
using Labels = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"data">>>;
constexpr auto loss_of_logits = [](const auto& x, const auto& labels) {
  return sum(cross_entropy<1>(x, labels, across<"model">));
};
constexpr auto of_logits =
    trace_program<96>(gradient(loss_of_logits), abstract<Logits>(), abstract<Labels>());
static_assert(ledger_of(of_logits).collectives("model") == 2);
static_assert(std::none_of(of_logits.code, of_logits.code + of_logits.count,
                           [](const instruction& at) {
                             return at.what == &operation_of<pointwise<functions::equal>>;
                           }));

// Recomputed values are not kept: less memory, more work, the same communication.
struct block {
  constexpr auto operator()(const auto& v, const auto& y) const {
    auto a = exp(v);
    auto b = exp(a);
    return b * y;
  }
};
template <class Block>
struct deep {
  constexpr auto operator()(const auto& w, const auto& x) const {
    auto first = Block{}(w, x);
    auto second = Block{}(first, x);
    return sum(Block{}(second, x));
  }
};
struct block_again {
  constexpr auto operator()(const auto& v, const auto& y) const { return recompute(block{})(v, y); }
};
constexpr auto kept = trace<256>(gradient(deep<block>{}), abstract<V>(), abstract<V>());
constexpr auto again = trace<256>(gradient(deep<block_again>{}), abstract<V>(), abstract<V>());
static_assert(again.peak_bytes_per_device() < kept.peak_bytes_per_device());
static_assert(again.flops() > kept.flops());

}  // namespace
