// SPDX-License-Identifier: BSL-1.0
#include "unit/layout/grain_facts.hpp"

using namespace shardwise;

static_assert(grain_facts_hold());

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};

// One entry, one type.
static_assert(std::is_same_v<P<cyclic("x"), none>, P<"x%1", "">>);
static_assert(std::is_same_v<P<block_cyclic<32>("x", "y")>, P<"x,y%32">>);
static_assert(std::is_same_v<P<strided_by<2>("x")>, P<"x*2">>);

// Read and printed alike.
using blocks = layout<pod, P<block_cyclic<32>("x", "y"), none, "">>;
static_assert(type_name<blocks>() == "[(x,y)%32, -, -] on mesh(x=2, y=4)");
static_assert(blocks::value.grains[0] == grain::cyclic(32) && !blocks::value.is_contiguous());
static_assert(type_name<sharded_tensor<float, extents<512, 8>, layout<pod, P<"x%32", "y*2">>>>() ==
              "f32[512@x%32, 8@y*2]");

constexpr diagnosis verdict_of(text_view entry) {
  return resolve(pod::value, spec_desc{{entry}}).verdict;
}
static_assert(verdict_of("x%1").ok() && verdict_of("x*2").ok() &&
              verdict_of("y,x%1073741824").ok());
static_assert(verdict_of("x%0").rule == violation::grain_is_malformed);
static_assert(verdict_of("x%0").axis == "%0" && verdict_of("x%0").dim == 0);
static_assert(verdict_of("x*1").rule == violation::grain_is_malformed);
static_assert(verdict_of("x%").rule == violation::grain_is_malformed);
static_assert(verdict_of("x%02").rule == violation::grain_is_malformed);
static_assert(verdict_of("x%-2").rule == violation::grain_is_malformed);
static_assert(verdict_of("x%2%2").rule == violation::grain_is_malformed);
static_assert(verdict_of("x%2,y").rule == violation::grain_is_malformed);
static_assert(verdict_of("x%1073741825").rule == violation::grain_is_malformed);
static_assert(verdict_of("x%99999999999999999999999999").rule == violation::grain_is_malformed);
static_assert(verdict_of("%2").rule == violation::grain_is_malformed);
static_assert(verdict_of("z%2").rule == violation::axis_is_not_in_mesh);
static_assert(resolve(pod::value, spec_desc{{""}}, {"x%2"}).verdict.rule ==
              violation::spec_is_malformed);

// The key and the grains determine the layout; without a grain its word is 0.
template <class L>
constexpr bool comes_back =
    unpack(pack(L::value), pack_grains(L::value, 0), pack_grains(L::value, 1),
           pack_grains(L::value, 2), pack_grains(L::value, 3)) ==
    L::value&& std::is_same_v<
        L, layout_from_key<pod, pack(L::value), pack_grains(L::value, 0), pack_grains(L::value, 1),
                           pack_grains(L::value, 2), pack_grains(L::value, 3)>>;
static_assert(comes_back<blocks>);
static_assert(comes_back<layout<pod, P<none, "x%1", "y*1073741824">, partial<>, uneven>>);
static_assert(comes_back<layout<pod, P<"", "", "", "", "", "", "y%7", "x*2">>>);
static_assert(pack_grains(layout<pod, P<"x", "y">>::value, 0) == 0);

// Extents: whole rounds, or uneven.
constexpr diagnosis fits(const spec_desc& spec, index_t size, policy_desc policy = exact{}) {
  return validate(pod::value, resolve(pod::value, spec, {}, policy).layout, {size});
}
static_assert(fits({{"y%32"}}, 256).ok() && fits({{"y*2"}}, 16).ok());
static_assert(fits({{"y%32"}}, 100) ==
              diagnosis{violation::blocks_do_not_divide_extent, -1, 0, "y", 100, 128});
static_assert(fits({{"y*3"}}, 100) ==
              diagnosis{violation::extent_is_not_divisible, -1, 0, "y", 100, 12});
static_assert(fits({{"y%32"}}, 100, uneven{}).ok());
static_assert(describe(fits({{"y%32"}}, 100)) ==
              "blocks_do_not_divide_extent: block times devices divides a block-cyclic extent, or "
              "the layout says uneven (dimension 0, axis 'y', 100 where a multiple of 128 is "
              "needed)");

// Operations keep a grain; the grains of two operands must be equal.
using a_layout = layout<pod, P<block_cyclic<4>("x"), none>>;
using b_layout = layout<pod, P<cyclic("x"), none>>;
using A = sharded_tensor<float, extents<64, 8>, a_layout>;
using C = sharded_tensor<float, extents<8>, layout<pod, P<none>>>;
constexpr auto rows = [](const auto& a, const auto& c) { return sum<1>(a * a + c); };
static_assert(std::is_same_v<decltype(rows(abstract<A>(), abstract<C>()))::layout_type,
                             layout<pod, P<block_cyclic<4>("x")>>>);
static_assert(std::is_same_v<decltype(sum<0>(abstract<A>()))::layout_type,
                             layout<pod, P<none>, partial<"x">>>);
constexpr tensor_descs both{tensor_desc{element::f32, {64, 8}, a_layout::value},
                            tensor_desc{element::f32, {64, 8}, b_layout::value}};
static_assert(propagate(pod::value,
                        elementwise_rule(linearity::nonlinear,
                                         {extents_desc{64, 8}, extents_desc{64, 8}}),
                        both)
                  .verdict == diagnosis{violation::operand_layouts_conflict, 1, 0, "x"});

// A reshard over the same axes is one exchange of all elements that do not stay.
constexpr redistribution turn = redistribute(
    pod::value, {element::f32, {64, 8}, layout<pod, P<"x", none>>::value}, a_layout::value);
static_assert(turn.moves.size() == 1 && turn.moves[0].kind == collective::all_to_all &&
              turn.total_bytes() == 64 / 2 * 8 / 2 * 4);
