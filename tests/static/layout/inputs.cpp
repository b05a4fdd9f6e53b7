// SPDX-License-Identifier: BSL-1.0
#include <shardwise/layout/gradient.hpp>
#include <shardwise/layout/input_sharding.hpp>
#include <shardwise/operation/manual_collectives.hpp>
#include <shardwise/paper.hpp>
#include <shardwise/plan/mark.hpp>

#include <type_traits>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

// input_sharding.hpp: a single spec applies to all tensors of its rank; others are replicated.
constexpr input_sharding rows(spec_desc{{"data", ""}});
static_assert(rows.layout_of(pod::value, "image", 2).layout == layout<pod, P<"data", none>>::value);
static_assert(rows.layout_of(pod::value, "mask", 2).layout == layout<pod, P<"data", none>>::value);
static_assert(rows.layout_of(pod::value, "lengths", 1).layout == layout<pod, P<none>>::value);
static_assert(rows.layout_of(pod::value, "", 0).layout.rank() == 0);
static_assert(rows.can_apply("image", 2) && !rows.can_apply("lengths", 1));
static_assert(input_sharding(spec_desc{{"dat"}}).layout_of(pod::value, "", 1).verdict ==
              diagnosis{.rule = violation::axis_is_not_in_mesh, .dim = 0, .axis = "dat"});

// A spec for each key: a missing key is an error, and so is a batch without keys.
constexpr keyed_spec entries[] = {
    {"image", {{"data", "model"}}}, {"label", {{"data"}}}, {"scale", {}, true}};
constexpr input_sharding by_key{list_view<const keyed_spec>(entries)};
static_assert(by_key.layout_of(pod::value, "image", 2).layout.dims[1] == axis_list{1});
static_assert(by_key.layout_of(pod::value, "label", 1).layout.dims[0] == axis_list{0});
static_assert(by_key.layout_of(pod::value, "scale", 3).layout ==
              layout<pod, P<none, none, none>>::value);
static_assert(by_key.layout_of(pod::value, "weights", 1).verdict ==
              diagnosis{.rule = violation::input_has_no_sharding, .axis = "weights"});
static_assert(by_key.layout_of(pod::value, "", 2).verdict.rule == violation::input_has_no_sharding);
static_assert(by_key.layout_of(pod::value, "label", 2).verdict.rule ==
              violation::rank_differs_from_spec);
static_assert(by_key.can_apply("scale", 7) && !by_key.can_apply("label", 2));
static_assert(describe(by_key.layout_of(pod::value, "weights", 1).verdict) ==
              "input_has_no_sharding: every tensor of a batch has an entry with its key (key "
              "'weights')");

// gradient.hpp: the gradient has the layout of its tensor; the terms of a pending tensor have the
// same gradient.
template <class Layout>
using X = sharded_tensor<float, extents<8, 8>, Layout>;
template <class Layout>
constexpr bool keeps = std::is_same_v<gradient_of<X<Layout>>, X<Layout>>;
static_assert(keeps<layout<pod, P<none, none>>> && keeps<layout<pod, P<"data", "model">>> &&
              keeps<layout<pod, P<by("model", "data"), none>>> &&
              keeps<layout<pod, P<block_cyclic<2>("model"), none>>> &&
              keeps<layout<pod, P<none, none>, manual<"data">>>);
using marked = decltype(mark_sharding<P<"data", none>>(abstract<X<layout<pod, P<none, none>>>>()));
static_assert(
    std::is_same_v<gradient_of<sharded_tensor<float, marked::extents_type, marked::layout_type>>,
                   X<layout<pod, P<"data", none>>>>);
static_assert(std::is_same_v<gradient_of<X<layout<pod, P<"data", none>, partial<"model">>>>,
                             X<layout<pod, P<"data", none>>>>);
template <class X>
concept HasGradient = requires {
  typename gradient_of<X>;
};
static_assert(HasGradient<X<layout<pod, P<none, none>, partial<"model">>>> &&
              !HasGradient<X<layout<pod, P<none, none>, partial<"model", reduction::max>>>>);

// A manual tensor becomes a block-cyclic one, type and value.
constexpr auto manual_rows =
    enable_manual_sharding(abstract<X<layout<pod, P<block_cyclic<2>("model"), none>>>>());
static_assert(std::is_same_v<decltype(manual_rows)::extents_type, extents<2, 8>>);
constexpr auto cyclic_rows =
    disable_manual_sharding<P<block_cyclic<2>("model"), none>>(manual_rows);
static_assert(std::is_same_v<decltype(cyclic_rows)::layout_type,
                             layout<pod, P<block_cyclic<2>("model"), none>>>);

}  // namespace
