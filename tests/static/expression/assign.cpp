// SPDX-License-Identifier: BSL-1.0
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
struct rows : layout<pod, P<"x", none>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
using N = sharded_tensor<float, extents<8, 4>, rows>;
using T = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>, partial<"y">>>;

// On paper the same function is traced: one step for each assignment, the last one is the result.
constexpr auto update = [](const auto& w, const auto& dw) {
  auto next = w;
  next -= dw * 0.5F;
  next += next * next;
  return next;
};
constexpr auto updated = trace(update, abstract<X>(), abstract<X>());
static_assert(updated.flops() == 2 * 8 * 4 / 2 + 2 * 8 * 4 / 2);
static_assert(trace(update, abstract<N>(), abstract<X>()).flops() == updated.flops());

// Pending sums are added and scaled, and stay pending.
constexpr auto terms = [] {
  auto t = abstract<T>();
  t += t;
  t *= 2.0F;
  t /= 4;
  return t -= abstract<T>();
}();
static_assert(terms.extents() == extents_desc{8, 4});

constexpr layout_desc pending = layout<pod, P<"x", none>, partial<"y">>::value;
constexpr tensor_desc held{element::f32, {8, 4}, layout<pod, P<"x", none>>::value};
static_assert(check_assignment(held, held).ok());
static_assert(check_assignment(held, {element::f32, {8, 1}, held.layout}).rule ==
              violation::tensor_type_differs);
static_assert(check_assignment(held, {element::f32, {8, 4}, layout<pod, P<none, "x">>::value})
                  .rule == violation::tensor_type_differs);
static_assert(check_assignment(held, {element::f32, {8, 4}, pending}).rule ==
              violation::tensor_type_differs);
