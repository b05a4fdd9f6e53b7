// SPDX-License-Identifier: BSL-1.0
// A program's own functions are not replaced by those of the library's inner namespaces: none of
// these namespaces is searched for a call with the library's types.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <type_traits>

// Functions that are found wherever their namespace is searched, whatever is called in it.
namespace shardwise::internal {
template <class X>
void found_in_inner_namespace(const X&);
}  // namespace shardwise::internal
namespace shardwise::detail {
template <class X>
void found_in_inner_namespace(const X&);
}  // namespace shardwise::detail
namespace shardwise::type_parts {
// Searched, since it has a base of tensors: shows that this test notices.
template <class X>
void found_in_type_parts(const X&);
}  // namespace shardwise::type_parts
namespace shardwise::fused {
template <class X>
void found_in_inner_namespace(const X&);
}  // namespace shardwise::fused

namespace {

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct slices : mesh<axis<"data", dyn>> {};
using X = sharded_tensor<float, extents<4, 4>, layout<pod, P<"data", none>>>;
using V = sharded_tensor<float, extents<dyn>, layout<slices, P<"data">, partial<>, uneven>>;
using W = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;
using B = sharded_tensor<float, extents<4>, layout<pod, P<none>>>;

template <class T>
concept FindsInner = requires(const T& x) {
  found_in_inner_namespace(x);
};
template <class T>
concept FindsTypeParts = requires(const T& x) {
  found_in_type_parts(x);
};

static_assert(FindsTypeParts<X> && FindsTypeParts<any_tensor<float>>);
static_assert(!FindsInner<X> && !FindsInner<V> && !FindsInner<any_tensor<float>>);
static_assert(!FindsInner<decltype(abstract<X>())> && !FindsInner<pod> && !FindsInner<slices>);
static_assert(!FindsInner<X::layout_type> && !FindsInner<V::layout_type>);
static_assert(!FindsInner<X::extents_type> && !FindsInner<P<"data", none>>);
static_assert(!FindsInner<decltype(einsum<"ij,jk->ik">(abstract<X>(), abstract<W>()))>);
static_assert(!FindsInner<device_pool> && !FindsInner<mesh_desc>);
static_assert(!FindsInner<layout_desc> && !FindsInner<tensor_desc> && !FindsInner<spec_desc>);

static_assert(!FindsInner<nn::linear<W, B>> && !FindsInner<nn::column_wise<"w", "data">>);
static_assert(!FindsInner<nn::row_wise<"w", "data">> &&
              !FindsInner<nn::fully_sharded<"w", "data">>);
static_assert(!FindsInner<nn::place<"w", P<>>> && !FindsInner<nn::finish<"w", P<>>>);
static_assert(!FindsInner<optim::adam> && !FindsInner<optim::lion>);

// The names that a program gave its own functions.
template <class T>
int put(int, const T&) {
  return 1;
}
template <class T>
int finished(const T&) {
  return 2;
}
template <class T>
int widened(const T&) {
  return 3;
}
template <class T>
int made_tensor(T&&) {
  return 4;
}

TEST_CASE("a program's own functions are called with tensors") {
  device_pool pool{pod{}};
  X x = full<X>(pool, 2.0F);
  CHECK(put(0, x) == 1);
  CHECK(finished(x) == 2);
  CHECK(widened(x) == 3);
  CHECK(made_tensor(x) == 4);
  CHECK(made_tensor(x * 2.0F + x) == 4);
  [[maybe_unused]] const auto loss = [](const auto& a) { return reshard<P<>>(sum(a)); };
  static_assert(!FindsInner<decltype(gradient(loss))> && !FindsInner<decltype(step(loss))>);
  static_assert(!FindsInner<decltype(vmap(loss))> && !FindsInner<decltype(recompute(loss))>);
  static_assert(!FindsInner<decltype(value_and_grad(loss))>);
  static_assert(!FindsInner<decltype(custom_gradient(loss, loss))>);
  static_assert(!FindsInner<decltype(cast<int>(relu(x * 2.0F + x)))>);
  static_assert(!FindsInner<decltype(x < 1.0F)> && !FindsInner<decltype(to_host(x))>);
}

}  // namespace
