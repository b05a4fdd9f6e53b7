// SPDX-License-Identifier: BSL-1.0
#include <shardwise/layout/manual.hpp>
#include <shardwise/notation/jax_spec.hpp>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 2>, axis<"z", 3>> {};

using apart = layout<pod, P<by("x", "y"), none>, partial<>, uneven>;
using once = layout<pod, P<by("x", "y"), none>, partial<>, single_cut>;

// Five rows: the two meanings.
template <class L>
constexpr index_t rows_of(index_t device, index_t rows) {
  return shard_box(pod::value, L::value, {rows, 1}, 3 * device)[0].size();
}
static_assert(rows_of<apart>(0, 5) == 2 && rows_of<apart>(1, 5) == 1 && rows_of<apart>(2, 5) == 1 &&
              rows_of<apart>(3, 5) == 1);
static_assert(rows_of<once>(0, 5) == 2 && rows_of<once>(1, 5) == 2 && rows_of<once>(2, 5) == 1 &&
              rows_of<once>(3, 5) == 0);
static_assert(!is_cut_alike(pod::value, axis_list{0, 1}, 5) &&
              is_cut_alike(pod::value, axis_list{0, 1}, 7) &&
              is_cut_alike(pod::value, axis_list{0, 1}, 8) &&
              !is_cut_alike(pod::value, axis_list{0, 1}, 6) &&
              !is_cut_alike(pod::value, axis_list{0, 1}, dyn) &&
              is_cut_alike(pod::value, axis_list{2}, dyn));

// The spellings of a cut are different types with the same value.
template <class L>
struct of {
  static constexpr layout_desc layout_value = L::value;
};
template <class L>
constexpr bool comes_back = std::is_same_v<layout_from_value<pod, of<L>>, L>;
static_assert(comes_back<apart> && comes_back<once>);
static_assert(comes_back<layout<pod, P<by("x", "y"), none>>>);
static_assert(comes_back<layout<pod, P<by("z", "y", "x")>, partial<>, single_cut>>);
static_assert(comes_back<layout<pod, P<by("x", "y"), "z">, partial<>, single_cut>>);
static_assert(comes_back<layout<pod, P<by("x", "y"), none>, partial<"z">, single_cut>>);
static_assert(apart::value != once::value);
static_assert(layout<pod, P<cut_once("x", "y"), none>, partial<>, uneven>::value == once::value);
static_assert(std::is_same_v<P<cut_once("x", "y")>, P<"x,y*1">>);
struct wide : mesh<axis<"a", 2>, axis<"b", 2>, axis<"c", 2>, axis<"d", 2>> {};
using mixed = layout<wide, P<cut_once("a", "b"), by("c", "d")>, partial<>, uneven>;
static_assert(std::is_same_v<layout_from_value<wide, of<mixed>>, mixed>);
static_assert(type_name<sharded_tensor<float, extents<5, 5>, mixed>>() ==
              "f32[5@(a,b)*1, 5@(c,d)]");

// With one axis, and for exact layouts, both cuts are the same.
static_assert(layout<pod, P<"x", "y">, partial<>, single_cut>::value ==
              layout<pod, P<"x", "y">, partial<>, uneven>::value);
static_assert(layout<pod, P<cut_once("x", "y")>>::value == layout<pod, P<by("x", "y")>>::value);
static_assert(layout<pod, P<"x">, partial<>, single_cut>::value ==
              layout<pod, P<"x">, partial<>, uneven>::value);
static_assert(apart::value != once::value);

// As values.
static_assert(layout_of(pod::value, {{"x,y", ""}}, {}, single_cut{}) == once::value);
static_assert(layout_of(pod::value, {{"x,y*1", ""}}, {}, uneven{}) == once::value);
static_assert(policy_desc(single_cut{}).is_uneven && policy_desc(single_cut{}).cuts_once &&
              policy_desc(cut_policy::single_cut) == single_cut{} &&
              policy_desc(cut_policy::exact) == exact{});
constexpr diagnosis judged(axis_list axes) {
  layout_desc layout{{axes}};
  layout.grains[0] = grain::single_cut();
  return validate(pod::value, layout);
}
static_assert(judged({0, 1}).ok() && judged({0}).rule == violation::grain_is_malformed &&
              judged({}).rule == violation::grain_is_malformed);

// Operations keep the cut, including reductions and transposes; a dimension that loses its axes is
// uneven.
using X = sharded_tensor<float, extents<5, 6>, once>;
constexpr auto chain = [](const auto& x) { return exp(x) * 2.0F + x; };
static_assert(std::is_same_v<decltype(chain(abstract<X>()))::layout_type, once>);
static_assert(std::is_same_v<decltype(sum<1>(abstract<X>()))::layout_type,
                             layout<pod, P<by("x", "y")>, partial<>, single_cut>>);
static_assert(std::is_same_v<decltype(transpose<1, 0>(abstract<X>()))::layout_type,
                             layout<pod, P<none, by("x", "y")>, partial<>, single_cut>>);
static_assert(std::is_same_v<decltype(sum<0>(abstract<X>()))::layout_type,
                             layout<pod, P<none>, partial<"x,y">, uneven>>);

// A spec alone cuts axis by axis; the policy, or the entry, cuts once.
template <class Spec, class Policy = void>
using resharded = decltype(reshard<Spec, Policy>(abstract<X>()))::layout_type;
static_assert(std::is_same_v<resharded<P<by("x", "y"), none>>, apart>);
static_assert(resharded<P<cut_once("x", "y"), none>>::value == once::value);
static_assert(std::is_same_v<resharded<P<none, by("y", "x")>, single_cut>,
                             layout<pod, P<none, by("y", "x")>, partial<>, single_cut>>);

// What moves: one exchange of what does not stay, or nothing.
constexpr auto exchanged = [](index_t rows) {
  return redistribute(pod::value, {element::f32, {rows, 6}, apart::value}, once::value);
};
static_assert(exchanged(5).moves.size() == 1 &&
              exchanged(5).moves[0].kind == collective::all_to_all &&
              exchanged(5).moves[0].axes == axis_list{0, 1});
static_assert(exchanged(7).moves.empty() && exchanged(8).moves.empty());
// Manual shards need the same extents on all devices.
static_assert(!to_manual(pod::value, {element::f32, {5, 6}, once::value}).verdict.ok());
static_assert(to_manual(pod::value, {element::f32, {8, 6}, once::value}).tensor.extents[0] == 2);

// JAX uses a single cut; both can be requested.
static_assert(parse_partition_spec("P(('x', 'y'), None)", pod::value, 2, single_cut{}).layout ==
              once::value);
static_assert(parse_partition_spec("P(('x', 'y'))", pod::value, 2, uneven{}).layout ==
              apart::value);
static_assert(!parse_partition_spec("P(('x', 'y'))", pod::value, 2).layout.uneven);
