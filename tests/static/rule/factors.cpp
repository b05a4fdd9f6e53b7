// SPDX-License-Identifier: BSL-1.0
// The factors of operations, and what follows from them for tensors with types.
#include "unit/operation/factor_text.hpp"

using namespace shardwise;
using factors::write_rule;

constexpr tensor_desc whole(const extents_desc& extents, element type = element::f32) {
  tensor_desc out{type, extents, {}};
  out.layout.dims.resize(extents.size());
  return out;
}

// --- rules as text
// --------------------------------------------------------------------------------

static_assert(write_rule(parse_einsum("bi,io->bo").rule) ==
              "([i, j], [j, k])->([i, k]) reduction={j}");
static_assert(write_rule(reduction_rule(reduction::max, 3, 0b101, true)) ==
              "([i, j, k])->([., j, .]) reduction={i, k}");
static_assert(write_rule(reshape_rule({8, 4}, {32, 1})) == "([i, j])->([(ij), .])");
static_assert(write_rule(concatenate_operation::rule(concatenate_operation::how(1),
                                                     {whole({4, 1}), whole({4, 3})})) ==
              "([i, j], [i, k])->([i, (j+k)]) need_replication={j, k}");
static_assert(write_rule(take_operation::rule(integer_attributes(0, 0),
                                              {whole({64, 16}), whole({8, 4}, element::i32)})) ==
              "([i, j], [k, l])->([k, l, j]) reduction={i}");
static_assert(write_rule(roll_operation::rule(roll_of<0, 3>::how, {whole({12, 4})})) ==
              "([i, j])->([i, j]) permutation={i}");

// --- layouts of results
// ---------------------------------------------------------------------------

struct pod : mesh<axis<"a", 2>, axis<"b", 2>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;
template <class F, class... X>
using layout_made = typename decltype(F{}(abstract<X>()...))::layout_type;

using X = tensor<float, P<"a", "b">, 8, 8>;
using R = tensor<float, P<none, none>, 8, 8>;

// A replicated operand follows a split one, and a contraction of a split dimension adds up, through
// several operations.
constexpr auto sum_then_product = [](const auto& x, const auto& y, const auto& z) {
  return einsum<"ij,jk->ik">(x + y, z);
};
static_assert(std::is_same_v<layout_made<decltype(sum_then_product), X, R, R>,
                             layout<pod, P<"a", none>, partial<"b">>>);
static_assert(trace(sum_then_product, abstract<X>(), abstract<R>(), abstract<R>()).collectives() ==
              0);

// Reductions of other dimensions keep a split, of numbers of any type.
template <class T>
using last_split = tensor<T, P<none, none, "b">, 4, 64, 8>;
constexpr auto middle = [](const auto& x) { return sum<1>(x); };
static_assert(
    std::is_same_v<layout_made<decltype(middle), last_split<float>>, layout<pod, P<none, "b">>>);
static_assert(std::is_same_v<layout_made<decltype(middle), last_split<std::int32_t>>,
                             layout<pod, P<none, "b">>>);

// A chain of functions of elements keeps the layout of its only split operand.
constexpr auto chain = [](const auto& x, const auto& y, const auto& z) { return (x + y) / z; };
static_assert(std::is_same_v<layout_made<decltype(chain), X, R, R>, layout<pod, P<"a", "b">>>);

// A result may be requested in any layout, at the cost of the exchange between the two.
constexpr auto moved = [](const auto& x, const auto& y) { return add(x, y, as<P<"a", "b">>); };
using both = tensor<float, P<by("a", "b"), none>, 8, 8>;
static_assert(std::is_same_v<layout_made<decltype(moved), both, R>, layout<pod, P<"a", "b">>>);
static_assert(trace(moved, abstract<both>(), abstract<R>()).collectives(collective::all_to_all) ==
              1);

// What is joined or sorted along a split dimension is gathered where that is permitted.
constexpr auto joined = [](const auto& x) { return concatenate<0>(x, x, across<"a">); };
static_assert(std::is_same_v<layout_made<decltype(joined), X>, layout<pod, P<none, "b">>>);
static_assert(trace(joined, abstract<X>()).collectives(collective::all_gather) == 2 &&
              trace(joined, abstract<X>()).bytes_moved("b") == 0);
constexpr auto sorted = [](const auto& x) { return sort<1>(x, across<"b">); };
static_assert(std::is_same_v<layout_made<decltype(sorted), X>, layout<pod, P<"a", none>>>);

// --- gradients of windows
// -------------------------------------------------------------------------

using image = tensor<float, P<none, none, "a", none>, 4, 3, 16, 8>;
using window = tensor<float, P<none, none, none, none>, 6, 3, 3, 3>;
constexpr auto loss = [](const auto& x, const auto& w) {
  return reshard<P<>>(sum(square(convolution<paddings<1, 1>>(x, w, across<"a">))));
};
// The cotangent of the weights is a sum over positions that inputs and results split alike: one
// reduction, beside the halos.
constexpr auto of_weights = [](const auto& x, const auto& w) { return gradient<1>(loss)(x, w); };
static_assert(std::is_same_v<layout_made<decltype(of_weights), image, window>,
                             layout<pod, P<none, none, none, none>>>);
constexpr auto cost_of_weights = trace(of_weights, abstract<image>(), abstract<window>());
static_assert(cost_of_weights.collectives(collective::all_reduce) == 1 &&
              cost_of_weights.collectives(collective::halo_exchange) == 1 &&
              cost_of_weights.collectives() == 2);

// The largest of windows that do not overlap goes back to its window on the same device.
constexpr auto pooled = [](const auto& x) {
  return reshard<P<>>(sum(square(max_pool<windows<2, 2>>(x))));
};
constexpr auto through_pool = [](const auto& x) { return gradient(pooled)(x); };
static_assert(std::is_same_v<layout_made<decltype(through_pool), image>,
                             layout<pod, P<none, none, "a", none>>>);
static_assert(trace(through_pool, abstract<image>()).collectives() == 0);
