// SPDX-License-Identifier: BSL-1.0
// Contractions over semirings: which results are pending, and which pending operands are legal.
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class T, class Spec, class... Policies>
using matrix = paper_tensor<T, extents<8, 8>, layout<pod, Spec, Policies...>>;

using rows = matrix<float, P<"data", none>>;
using blocks = matrix<float, P<"data", "model">>;
using down = matrix<float, P<"model", none>>;
using whole = matrix<float, P<none, none>>;
using least = matrix<float, P<none, none>, partial<"model", reduction::min>>;
using most = matrix<float, P<none, none>, partial<"model", reduction::max>>;
using total = matrix<float, P<none, none>, partial<"model">>;

template <Semiring auto Over, class... X>
inline constexpr auto product = result_of<semiring_einsum_of<"ij,jk->ik", Over>, X...>::value;

// A letter that is split and reduced leaves the result pending with the semiring's reduction.
static_assert(product<min_plus, blocks, down>.result.layout.kind == reduction::min);
static_assert(product<min_plus, blocks, down>.result.layout.pending == 2);
static_assert(product<max_times, blocks, down>.result.layout.kind == reduction::max);
static_assert(product<min_plus, rows, whole>.result.layout.pending == 0);

// Sums distribute over minima and maxima; products of numbers with signs do not.
static_assert(product<min_plus, least, whole>.result.layout.kind == reduction::min);
static_assert(product<min_plus, whole, least>.verdict.ok());
static_assert(product<max_plus, most, whole>.verdict.ok());
static_assert(product<min_plus, most, whole>.verdict.rule == violation::partial_value_is_read);
static_assert(product<min_plus, total, whole>.verdict.rule == violation::partial_value_is_read);
static_assert(product<max_times, most, whole>.verdict.rule == violation::partial_value_is_read);
static_assert(product<min_plus, least, least>.verdict.rule == violation::pending_axis_meets_itself);

// With one operand the contraction is just the reduction, whatever its products are.
static_assert(is_legal<semiring_einsum_of<"ij->i", max_times>, most>);
static_assert(!is_legal<semiring_einsum_of<"ij->i", max_times>, least>);

// `or_and` takes `bool`, all others take numbers.
using edges = matrix<bool, P<"data", none>>;
using reached = matrix<bool, P<none, none>>;
static_assert(result_of<semiring_einsum_of<"ij,jk->ik", or_and>, edges, reached>::judge().ok);
static_assert(!result_of<semiring_einsum_of<"ij,jk->ik", or_and>, rows, whole>::judge().ok);
static_assert(!result_of<semiring_einsum_of<"ij,jk->ik", min_plus>, edges, reached>::judge().ok);

// A program with a user-defined semiring.
struct max_min_semiring {
  static constexpr text_view name = "max_min";
  using times = functions::minimum;
  static constexpr reduction reduce = reduction::max;
  static constexpr bool distributes = true;
};
constexpr max_min_semiring max_min{};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"data", "model">>>;
using B = sharded_tensor<float, extents<8, 8>, layout<pod, P<"model", none>>>;
constexpr auto widest = [](const auto& a, const auto& b) {
  return reshard<P<"data", none>>(einsum<"ij,jk->ik", max_min>(a, b));
};
static_assert(trace(widest, abstract<A>(), abstract<B>()).collectives() == 1);
static_assert(trace(widest, abstract<A>(), abstract<B>()).flops() >= 2 * 4 * 2 * 8);

// Three operands, and dimensions without names.
using C = sharded_tensor<float, extents<8, 8>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<8, 8>, layout<pod, P<none, none>>>;
constexpr auto three = [](const auto& a, const auto& b) {
  return einsum<"ij,jk,kl->il", min_plus>(a, b, b);
};
static_assert(trace(three, abstract<C>(), abstract<W>()).collectives() == 0);
constexpr auto dots = [](const auto& a, const auto& b) {
  return einsum<"...j,jk->...k", max_times>(a, b);
};
static_assert(decltype(dots(abstract<C>(), abstract<W>()))::layout_type::value ==
              layout<pod, P<"data", none>>::value);
// Sums of products have the same type, however they are written.
static_assert(
    std::is_same_v<decltype(einsum<"ij,jk->ik", plus_times>(abstract<C>(), abstract<W>())),
                   decltype(einsum<"ij,jk->ik">(abstract<C>(), abstract<W>()))>);

}  // namespace
