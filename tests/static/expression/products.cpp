// SPDX-License-Identifier: BSL-1.0
// Products of matrices: batches that broadcast, vectors, and the element type of the sums.
#include <shardwise/paper.hpp>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;

constexpr auto multiply = [](const auto& a, const auto& b) { return matmul(a, b); };
template <class A, class B>
using made = decltype(multiply(abstract<A>(), abstract<B>()));
template <class Made, class Layout, index_t... N>
constexpr bool is = std::is_same_v<typename Made::layout_type, Layout>&&
    std::is_same_v<typename Made::extents_type, extents<N...>>;

// Batch dimensions of size 1 broadcast, and the summed dimension leaves the product pending.
using A = tensor<P<"data", none, none, "model">, 2, 1, 4, 8>;
using B = tensor<P<none, none, "model", none>, 1, 3, 8, 5>;
static_assert(
    is<made<A, B>, layout<pod, P<"data", none, none, none>, partial<"model">>, 2, 3, 4, 5>);

// A batch dimension of size 1 that is split: one device of its axis has the only element, and the
// sum over that axis is pending.
using once =
    sharded_tensor<float, extents<1, 8, 5>, layout<pod, P<"data", none, none>, partial<>, uneven>>;
using many = tensor<P<none, none, none>, 3, 4, 8>;
static_assert(
    is<made<many, once>, layout<pod, P<none, none, none>, partial<"data">, uneven>, 3, 4, 5>);

// An operand of rank 1 is a vector, on either side.
using V = tensor<P<"model">, 8>;
static_assert(is<made<A, V>, layout<pod, P<"data", none, none>, partial<"model">>, 2, 1, 4>);
static_assert(is<made<V, B>, layout<pod, P<none, none, none>, partial<"model">>, 1, 3, 5>);
static_assert(is<made<V, V>, layout<pod, P<>, partial<"model">>>);

// The trace counts the products of one device, and nothing is communicated.
constexpr auto traced = trace(multiply, abstract<A>(), abstract<B>());
static_assert(traced.collectives() == 0 && traced.flops() == 2 * (1 * 3 * 4 * 5 * 2));

// The element type in which products are added is that of a pending sum, and of its reduction.
template <class T, class Spec, index_t... N>
using tensor_of = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;
using half_x = tensor_of<bfloat16, P<"data", "model">, 8, 16>;
using half_w = tensor_of<bfloat16, P<"model", none>, 16, 32>;
constexpr auto widely = [](const auto& x, const auto& w) {
  return einsum<"bi,io->bo", float>(x, w);
};
using wide = decltype(widely(abstract<half_x>(), abstract<half_w>()));
static_assert(is<wide, layout<pod, P<"data", none>, partial<"model">>, 8, 32> &&
              std::is_same_v<wide::value_type, float>);
constexpr auto placed = [](const auto& x, const auto& w) {
  return einsum<"bi,io->bo", float>(x, w, as<P<"data", "model">>);
};
constexpr auto scattered = trace(placed, abstract<half_x>(), abstract<half_w>());
static_assert(scattered.collectives(collective::reduce_scatter, "model") == 1);
static_assert(
    scattered.bytes_moved() ==
    2 * trace([](const auto& x,
                 const auto& w) { return einsum<"bi,io->bo">(x, w, as<P<"data", "model">>); },
              abstract<half_x>(), abstract<half_w>())
            .bytes_moved());
// The gradients have the element types of the operands.
constexpr auto loss = [](const auto& x, const auto& w) {
  return sum(einsum<"bi,io->bo", float>(x, w, as<P<"data", none>>));
};
constexpr auto slopes = gradient(loss)(abstract<half_x>(), abstract<half_w>());
static_assert(std::is_same_v<decltype(slopes)::value_type, bfloat16>);
// Operands that have this type already are not converted.
static_assert(trace([](const auto& v) { return einsum<"i->", float>(v); }, abstract<V>()).flops() ==
              trace([](const auto& v) { return einsum<"i->">(v); }, abstract<V>()).flops());

}  // namespace
