// SPDX-License-Identifier: BSL-1.0
// Marked layouts: the types of the results, and that marks cost nothing.
#include "unit/plan/mark_facts.hpp"
#include <shardwise/paper.hpp>
#include <shardwise/plan/mark.hpp>

#include <tuple>
#include <type_traits>

using namespace shardwise;

static_assert(mark_facts_hold());

struct pod : mesh<axis<"x", 2>, axis<"y", 4>, axis<"one", 1>> {};
struct slice_of_pods : mesh<axis<"x", dyn>> {};

template <class Spec, class Partial = partial<>, class Policy = exact>
using X = sharded_tensor<float, extents<8, 16>, layout<pod, Spec, Partial, Policy>>;
template <class Spec, class Partial = partial<>, class Policy = exact>
using on_paper = abstract_tensor<float, extents<8, 16>, layout<pod, Spec, Partial, Policy>>;
template <class Result, class Expected>
inline constexpr bool is = std::is_same_v<std::remove_cvref_t<Result>, Expected>;

using whole = X<P<none, none>>;
using rows = X<P<"x", none>>;
using terms = X<P<"x", none>, partial<"y">>;

// constrain: to the present layout, or to one that slices reach.
static_assert(is<decltype(constrain<P<"x", none>>(abstract<rows>())), on_paper<P<"x", none>>>);
static_assert(is<decltype(constrain<P<"x", "y">>(abstract<rows>())), on_paper<P<"x", "y">>>);
static_assert(is<decltype(constrain<P<by("x", "y"), none>>(abstract<rows>())),
                 on_paper<P<by("x", "y"), none>>>);
static_assert(is<decltype(constrain<P<"x", none>, uneven>(abstract<rows>())),
                 on_paper<P<"x", none>, partial<>, uneven>>);
static_assert(is<decltype(constrain<layout<pod, P<"x", none>, partial<"y">>>(abstract<terms>())),
                 on_paper<P<"x", none>, partial<"y">>>);
static_assert(
    is<decltype(constrain<layout<pod, P<by("x", "one"), none>, partial<"y">>>(abstract<terms>())),
       on_paper<P<by("x", "one"), none>, partial<"y">>>);
// An axis of size 1 costs nothing in any direction.
static_assert(is<decltype(constrain<P<none, "one">>(abstract<X<P<"one", none>, partial<>>>())),
                 on_paper<P<none, "one">>>);
static_assert(is<decltype(constrain<P<none, none>>(abstract<X<P<none, none>, partial<"one">>>())),
                 on_paper<P<none, none>>>);
// The result has a named layout if one is given.
struct named : layout<pod, P<"x", none>> {};
static_assert(is<decltype(constrain<named>(abstract<rows>())),
                 abstract_tensor<float, extents<8, 16>, named>>);

// mark_sharding returns a new type; its operand keeps its own.
static_assert(is<decltype(mark_sharding<P<"x", "y">>(abstract<whole>())), on_paper<P<"x", "y">>>);
static_assert(is<decltype(mark_sharding<P<"x", none>>(abstract<rows>())), on_paper<P<"x", none>>>);
static_assert(is<decltype(mark_sharding<named>(abstract<whole>())),
                 abstract_tensor<float, extents<8, 16>, named>>);
static_assert(is<decltype(mark_sharding<P<"x", none>>(abstract<X<P<none, "one">>>())),
                 on_paper<P<"x", none>>>);
static_assert(
    is<decltype(mark_sharding<P<>>(abstract<sharded_tensor<float, extents<>, layout<pod, P<>>>>())),
       abstract_tensor<float, extents<>, layout<pod, P<>>>>);

// clear_sharding makes a tensor replicated; afterwards it may be marked again.
static_assert(is<decltype(clear_sharding(abstract<rows>())), on_paper<P<none, none>>>);
static_assert(is<decltype(clear_sharding(abstract<X<P<by("x", "y"), none>, partial<>, uneven>>())),
                 on_paper<P<none, none>, partial<>, uneven>>);
static_assert(is<decltype(clear_sharding(abstract<whole>())), on_paper<P<none, none>>>);
static_assert(is<decltype(mark_sharding<P<none, "y">>(clear_sharding(abstract<rows>()))),
                 on_paper<P<none, "y">>>);

// shard_as: the layout of the other.
static_assert(is<decltype(shard_as(abstract<whole>(), abstract<rows>())), on_paper<P<"x", none>>>);
static_assert(is<decltype(shard_as(abstract<terms>(), abstract<terms>())),
                 on_paper<P<"x", none>, partial<"y">>>);
static_assert(
    is<decltype(shard_as(abstract<terms>(), abstract<X<P<none, "y">>>())), on_paper<P<none, "y">>>);
static_assert(
    is<decltype(shard_as(abstract<sharded_tensor<int, extents<4, 2>, layout<pod, P<none, none>>>>(),
                         abstract<rows>())),
       abstract_tensor<int, extents<4, 2>, layout<pod, P<"x", none>>>>);

// The result of an invalid operation stays invalid.
template <class X>
constexpr bool silent = std::is_same_v<std::remove_cvref_t<X>, refused_value>;
constexpr refused_value no;
static_assert(silent<decltype(constrain<P<"x">>(no))> &&
              silent<decltype(mark_sharding<P<"x">>(no))> && silent<decltype(clear_sharding(no))> &&
              silent<decltype(shard_as(no, abstract<rows>()))> &&
              silent<decltype(shard_as(abstract<rows>(), no))>);

// Ledgers: a mark costs nothing, and clear_sharding its collective.
constexpr auto promises = [](const auto& x, const auto& whole_x) {
  const auto kept = constrain<P<"x", none>>(x);
  const auto cut = constrain<P<"x", "y">>(kept);
  return cut + mark_sharding<P<"x", "y">>(whole_x);
};
constexpr cost_ledger of_promises = trace(promises, abstract<rows>(), abstract<whole>());
static_assert(of_promises.collectives() == 0 && of_promises.bytes_moved() == 0);

constexpr auto clear = [](const auto& x) { return clear_sharding(x); };
constexpr cost_ledger of_clear = trace(clear, abstract<rows>());
static_assert(of_clear.collectives() == 1 && of_clear.collectives(collective::all_gather) == 1);
static_assert(of_clear.bytes_moved() == 8 * 16 * 4 / 2);
static_assert(trace(clear, abstract<whole>()).collectives() == 0);

constexpr auto like = [](const auto& x, const auto& model) { return shard_as(x, model); };
static_assert(trace(like, abstract<rows>(), abstract<rows>()).collectives() == 0);
static_assert(trace(like, abstract<rows>(), abstract<X<P<none, "x">>>())
                  .collectives(collective::all_to_all) == 1);
static_assert(
    trace(like, abstract<terms>(), abstract<rows>()).collectives(collective::all_reduce) == 1);

// A temporary that already has the layout is still fused; a named one is computed once.
constexpr auto fuses = [](const auto& x) { return constrain<P<"x", none>>(relu(x)) * 2.0F; };
constexpr auto bare = [](const auto& x) { return relu(x) * 2.0F; };
static_assert(trace(fuses, abstract<rows>()).peak_bytes_per_device() ==
              trace(bare, abstract<rows>()).peak_bytes_per_device());
static_assert(trace_program(fuses, abstract<rows>()).count ==
              trace_program(bare, abstract<rows>()).count);

// Marking one of several results leaves the others as they are.
constexpr auto two = [](const auto& x) {
  auto a = relu(x);
  auto b = exp(x);
  auto marked = mark_sharding<P<"x", "y">>(a);
  static_assert(is<decltype(a), on_paper<P<none, none>>> &&
                is<decltype(b), on_paper<P<none, none>>>);
  return std::tuple(marked, b);
};
static_assert(trace(two, abstract<whole>()).collectives() == 0);

// A copy and everything computed elementwise keep their layout.
constexpr auto copies = [](const auto& x) {
  auto copy = x;
  auto sum = copy + 1.0F;
  static_assert(is<decltype(copy), on_paper<P<"x", none>>> &&
                is<decltype(sum), on_paper<P<"x", none>>>);
  return sum;
};
static_assert(trace(copies, abstract<rows>()).collectives() == 0);

// Over a dyn axis a slice is free, and shard_as asks for the same sizes.
using D = sharded_tensor<float, extents<dyn>, layout<slice_of_pods, P<none>>>;
using S = sharded_tensor<float, extents<dyn>, layout<slice_of_pods, P<"x">>>;
static_assert(is<decltype(constrain<P<"x">>(abstract<D>(8, 2))),
                 abstract_tensor<float, extents<dyn>, layout<slice_of_pods, P<"x">>>>);
static_assert(trace(like, abstract<D>(8, 4), abstract<S>(12, 4)).collectives() == 0);
