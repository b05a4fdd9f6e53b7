// SPDX-License-Identifier: BSL-1.0
#include <shardwise/paper.hpp>

#include <type_traits>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct slice : mesh<axis<"data", dyn>, axis<"model", 4>> {};
struct widest : mesh<axis<"a", 1>, axis<"b", 2>, axis<"c", 3>, axis<"d", 1>, axis<"e", 2>,
                     axis<"f", 3>, axis<"g", 2>> {};

// layout.hpp
using rows = layout<pod, P<"x", none>>;
using terms = layout<pod, P<"x", none>, partial<"y">>;
using ragged = layout<pod, P<"x", none>, partial<>, uneven>;
static_assert(std::is_empty_v<rows> &&
              std::is_same_v<rows, layout<pod, P<"x", none>, partial<>, exact>>);
static_assert(std::is_same_v<rows::mesh_type, pod> &&
              std::is_same_v<rows::spec_type, P<"x", none>>);
static_assert(std::is_same_v<ragged::policy_type, uneven> &&
              std::is_same_v<terms::partial_type, partial<"y">>);
static_assert(rows::value.rank() == 2 && rows::value.dims[0] == axis_list{0} &&
              rows::value.dims[1].empty());
static_assert(!rows::value.uneven && ragged::value.uneven && !(rows::value == ragged::value));
static_assert(terms::value.is_pending(1) && !terms::value.is_pending(0));
static_assert(terms::value.pending_axes() == axis_list{1} &&
              terms::value.splitting_axes() == axis_list{0});
static_assert(rows::value.dim_of(0) == 0 && rows::value.dim_of(1) == -1);
static_assert(layout<pod, P<by("y", "x")>>::value.dims[0] == axis_list{1, 0});
static_assert(layout<pod, P<>, partial<"x,y", reduction::max>>::value.kind == reduction::max);
static_assert(layout<pod, P<>, partial<"", reduction::max>>::value.kind == reduction::sum);

// layout_desc.hpp: the same rule on values.
constexpr auto judged = [](const spec_desc& spec, const partial_desc& partial = {}) {
  return resolve(pod::value, spec, partial).verdict;
};
static_assert(judged({{"x", "y"}}).ok() && judged({}).ok() && judged({{"", ""}}, {"x,y"}).ok());
static_assert(judged({{"x", "z"}}) ==
              diagnosis{.rule = violation::axis_is_not_in_mesh, .dim = 1, .axis = "z"});
static_assert(judged({{"x", "x"}}) ==
              diagnosis{.rule = violation::axis_is_used_twice, .dim = 1, .axis = "x"});
static_assert(judged({{"y,y"}}).rule == violation::axis_is_used_twice);
static_assert(judged({{"x "}}).rule == violation::spec_is_malformed);
static_assert(judged({{" "}}).rule == violation::spec_is_malformed);
static_assert(judged({{"x,"}}).rule == violation::spec_is_malformed);
static_assert(judged({{",x"}}).rule == violation::spec_is_malformed);
static_assert(judged({{"(x,y)"}}).rule == violation::spec_is_malformed);
static_assert(judged({{"x, y"}}).rule == violation::spec_is_malformed);
static_assert(judged({{"x"}}, {"x"}) ==
              diagnosis{.rule = violation::partial_axis_also_splits, .dim = 0, .axis = "x"});
static_assert(judged({{""}}, {"y,x"}) ==
              diagnosis{.rule = violation::pending_axes_are_out_of_order, .axis = "x"});
static_assert(judged({{""}}, {"z"}) ==
              diagnosis{.rule = violation::axis_is_not_in_mesh, .axis = "z"});
static_assert(judged({{""}}, {"x,x"}).rule == violation::axis_is_used_twice);
static_assert(judged({{"a_name_that_is_longer_than_23"}}).rule == violation::spec_is_malformed);
static_assert(judged({{"", "", "", "", "", "", "", "x"}}).ok());
static_assert(judged({{"", "", "", "", "", "", "", "", "z"}}) ==
              diagnosis{.rule = violation::rank_is_too_high, .dim = 8});
static_assert(judged(P<"x", "z", none, none, none, none, none, none, none, none>::value) ==
              diagnosis{.rule = violation::rank_is_too_high, .dim = 8});

constexpr auto checked = [](const extents_desc& extents, const auto& layout) {
  return validate(pod::value, std::remove_cvref_t<decltype(layout)>::value, extents);
};
static_assert(checked({4, 3}, rows{}).ok() && checked({0, 3}, rows{}).ok() &&
              checked({dyn, dyn}, rows{}).ok());
static_assert(checked({5, 3}, rows{}) == diagnosis{.rule = violation::extent_is_not_divisible,
                                                   .dim = 0,
                                                   .axis = "x",
                                                   .have = 5,
                                                   .want = 2});
static_assert(checked({5, 3}, ragged{}).ok());
static_assert(checked({4}, rows{}) ==
              diagnosis{.rule = violation::rank_differs_from_spec, .have = 2, .want = 1});
static_assert(checked({4, -3}, rows{}) ==
              diagnosis{.rule = violation::extent_is_negative, .dim = 1, .have = -3});
static_assert(validate(slice::value, layout<slice, P<"data">>::value, {5}).ok());
static_assert(validate(slice{{2}}.desc(), layout<slice, P<"data">>::value, {5}).rule ==
              violation::extent_is_not_divisible);

// key.hpp: a value and its type are one.
template <class L>
inline constexpr bool round_trips =
    unpack(pack(L::value)) ==
    L::value&& std::is_same_v<layout_from_key<typename L::mesh_type, pack(L::value)>, L>;
static_assert(round_trips<rows> && round_trips<terms> && round_trips<ragged> &&
              round_trips<layout<pod, P<>>>);
static_assert(round_trips<layout<pod, P<by("y", "x")>>> &&
              round_trips<layout<pod, P<none, by("x", "y")>>>);
static_assert(round_trips<layout<pod, P<none>, partial<"x,y", reduction::min>, uneven>>);
static_assert(round_trips<layout<slice, P<"model", "data">>>);
static_assert(round_trips<layout<widest, P<by("g", "f", "e", "d", "c", "b", "a")>>>);
static_assert(round_trips<layout<widest, P<"g", "f", "e", "d", "c", "b", "a", none>>>);
static_assert(round_trips<layout<widest, P<none, none, none, none, none, none, none, by("c", "a")>,
                                 partial<"b,e,f,g", reduction::product>, uneven>>);
// A sum over one device is the value itself.
static_assert(layout<widest, P<none>, partial<"a,d", reduction::max>>::value ==
              layout<widest, P<none>>::value);
static_assert(layout<widest, P<none>, partial<"a,b">>::value ==
              layout<widest, P<none>, partial<"b">>::value);
static_assert(std::is_same_v<layout<pod, P<by("x", "y")>>, layout<pod, P<"x,y">>>);
static_assert(pack(rows::value) != pack(ragged::value) && pack(rows::value) != pack(terms::value));

// extents.hpp
static_assert(extents<>::rank == 0 && extents<dyn, 1024>::rank == 2 &&
              extents<dyn, 4, dyn>::dynamic_rank == 2);
static_assert(std::is_empty_v<extents<1, 2>> && extents<3, dyn>::value == extents_desc{3, dyn});
static_assert(extents<1, 2, 3, 4, 5, 6, 7, 8>::value.full());
static_assert(sized_extents<extents<dyn, 4, dyn>>(7, 9) == extents_desc{7, 4, 9} &&
              sized_extents<extents<>>().empty());
struct held {
  static constexpr extents_desc extents_value{3, dyn};
};
static_assert(std::is_same_v<extents_from_value<held>, extents<3, dyn>>);

// element.hpp
static_assert(Element<float> && Element<double> && Element<std::int32_t> && Element<std::int64_t>);
static_assert(Element<bool> && Element<std::int8_t> && Element<std::uint8_t> && Element<bfloat16> &&
              Element<float16>);
static_assert(!Element<char> && !Element<short> && !Element<unsigned> && !Element<const float> &&
              !Element<float&>);
static_assert(std::is_same_v<type_of_element<element::bf16>, bfloat16> &&
              std::is_same_v<type_of_element<element_of<bool>>, bool>);
static_assert(std::is_same_v<compute_type<bfloat16>, float> &&
              std::is_same_v<compute_type<std::int8_t>, std::int8_t>);
static_assert(has_fractions(element::f16) && !has_fractions(element::boolean));
static_assert(to_text(element::bf16) == "bf16" && to_text(element::boolean) == "bool" &&
              size_of(element::f16) == 2 && size_of(element::u8) == 1);
static_assert(element_of<float> == element::f32 && element_of<double> == element::f64);
static_assert(element_of<std::int32_t> == element::i32 && element_of<std::int64_t> == element::i64);
static_assert(size_of(element::f32) == 4 && size_of(element::f64) == 8 &&
              size_of(element::i64) == 8);
static_assert(to_text(element::f32) == "f32" && to_text(element::i64) == "i64");

// A layout that is built without a spec is checked by the same rules.
constexpr diagnosis judged_value(const inplace_vector<axis_list, max_rank>& dims,
                                 unsigned pending = 0, unsigned manual = 0, grain first = {}) {
  layout_desc given;
  given.dims = dims;
  given.pending = static_cast<std::uint8_t>(pending);
  given.manual = static_cast<std::uint8_t>(manual);
  given.grains[0] = first;
  return validate(pod::value, given);
}
static_assert(judged_value({}).ok() && judged_value({axis_list{1}, axis_list{}}, 1).ok() &&
              judged_value({axis_list{1, 0}}).ok() && judged_value({axis_list{1}}, 0, 1).ok() &&
              judged_value({axis_list{0}}, 0, 0, grain::cyclic(2)).ok());
static_assert(judged_value({axis_list{}, axis_list{2}}) ==
              diagnosis{.rule = violation::axis_is_not_in_mesh, .dim = 1});
static_assert(judged_value({}, 4).rule == violation::axis_is_not_in_mesh &&
              judged_value({}, 0, 128).rule == violation::axis_is_not_in_mesh);
static_assert(judged_value({axis_list{1}, axis_list{1}}) ==
              diagnosis{.rule = violation::axis_is_used_twice, .dim = 1, .axis = "y"});
static_assert(judged_value({axis_list{}, axis_list{0}}, 1) ==
              diagnosis{.rule = violation::partial_axis_also_splits, .dim = 1, .axis = "x"});
static_assert(judged_value({axis_list{0}}, 0, 1) ==
                  diagnosis{.rule = violation::manual_axis_is_used, .axis = "x"} &&
              judged_value({}, 2, 2) ==
                  diagnosis{.rule = violation::manual_axis_is_used, .axis = "y"});
static_assert(judged_value({axis_list{}}, 0, 0, grain::cyclic(2)) ==
              diagnosis{.rule = violation::grain_is_malformed, .dim = 0});
static_assert(check_known(pod::value, layout<pod, P<"x">>::value, {dyn}) ==
              diagnosis{.rule = violation::extent_is_negative, .dim = 0, .have = -1});
static_assert(check_known(pod::value, layout<pod, P<"x">>::value, {0}).ok());
static_assert(check_known(pod::value, layout<pod, P<"x">>::value, {max_elements}).ok());
static_assert(check_known(pod::value, layout<pod, P<"x", none>>::value, {2, max_elements}) ==
              diagnosis{.rule = violation::tensor_is_too_large,
                        .dim = 1,
                        .have = max_elements,
                        .want = max_elements / 2 + 1});
static_assert(check_known(pod::value, layout<pod, P<"x", none, none>>::value,
                          {0, max_elements, max_elements})
                  .rule == violation::tensor_is_too_large);

// notation.hpp, tensor_desc.hpp
struct twelve : mesh<axis<"data", 2>, axis<"x", 2>, axis<"y", 4>, axis<"model", 3>> {};
using example = sharded_tensor<float, extents<512, 1024, 64>,
                               layout<twelve, P<"data", by("x", "y"), none>, partial<"model">>>;
static_assert(type_name<example>() == "f32[512@data, 1024@(x,y), 64]{partial sum: model}");
static_assert(type_name<sharded_tensor<double, extents<dyn, 8>, layout<pod, P<none, "y">>>>() ==
              "f64[?, 8@y]");
static_assert(type_name<sharded_tensor<std::int32_t, extents<>,
                                       layout<pod, P<>, partial<"x,y", reduction::max>>>>() ==
              "i32[]{partial max: x, y}");
static_assert(type_name<rows>() == "[x, -] on mesh(x=2, y=4)");
static_assert(type_name<layout<pod, P<by("y", "x")>>>() == "[(y,x)] on mesh(x=2, y=4)");
static_assert(type_name<layout<pod, P<>, partial<"x,y">>>() ==
              "[]{partial sum: x, y} on mesh(x=2, y=4)");
static_assert(type_name<pod>() == "mesh(x=2, y=4)" &&
              type_name<slice>() == "mesh(data=?, model=4)");

static_assert(bytes_per_device(pod::value,
                               {element::f64, {6, 8}, layout<pod, P<"x", "y">>::value}) ==
              3 * 2 * 8);
static_assert(bytes_per_device(pod::value, {element::f32,
                                            {5},
                                            layout<pod, P<"y">, partial<>, uneven>::value}) == 8);
static_assert(bytes_per_device(pod::value, {element::f32, {}, {}}) == 4);
