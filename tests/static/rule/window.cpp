// SPDX-License-Identifier: BSL-1.0
#include "support/facts.hpp"
#include "unit/rule/window_facts.hpp"

using namespace shardwise;

static_assert(facts_hold<windowed::facts>);

// --- halos as grains
// ------------------------------------------------------------------------------

static_assert(grain::halo(3, 2).is_halo() && grain::halo(3, 2).before() == 3 &&
              grain::halo(3, 2).behind() == 2 && !grain::halo(3, 2).is_contiguous());
static_assert(grain::halo(grain::halo_end - 1, grain::halo_end - 1).is_halo() &&
              grain::halo(grain::halo_end - 1, 0).before() == grain::halo_end - 1);
static_assert(grain::halo(0, 0).is_contiguous() && !grain::strided(grain::largest).is_halo() &&
              grain::strided(grain::largest).is_strided() && !grain::halo(1, 0).is_strided());
static_assert(detail::read_grain("~3:2") == grain::halo(3, 2) &&
              detail::read_grain("~0:1") == grain::halo(0, 1));
static_assert(detail::read_grain("~0:0").is_contiguous() &&
              detail::read_grain("~3").is_contiguous() &&
              detail::read_grain("~03:1").is_contiguous() &&
              detail::read_grain("~1:").is_contiguous() &&
              detail::read_grain("~:1").is_contiguous() &&
              detail::read_grain("~1:1:1").is_contiguous() &&
              detail::read_grain("~32768:1").is_contiguous());

// --- layouts and ledgers
// --------------------------------------------------------------------------

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 4, 32, 16>, layout<pod, P<"data", none, none, none>>>;
using W = sharded_tensor<float, extents<16, 4, 3, 3>, layout<pod, P<"model", none, none, none>>>;
constexpr auto same = [](const auto& x, const auto& w) {
  return convolution<paddings<1, 1>>(x, w);
};

// The batch and the features stay split; nothing moves.
static_assert(std::is_same_v<decltype(same(abstract<X>(), abstract<W>()))::layout_type,
                             layout<pod, P<"data", "model", none, none>>>);
static_assert(trace(same, abstract<X>(), abstract<W>()).collectives() == 0);
// 2 products for each of 4 x 4 x 32 x 16 elements on a device, of 4 channels and 9 places.
static_assert(trace(same, abstract<X>(), abstract<W>()).flops() == 2 * 4 * 4 * 32 * 16 * 4 * 9);

// Channels that both split leave a pending sum.
using XC =
    sharded_tensor<float, extents<8, 4, 32, 16>, layout<pod, P<"data", "model", none, none>>>;
using WC = sharded_tensor<float, extents<16, 4, 3, 3>, layout<pod, P<none, "model", none, none>>>;
static_assert(std::is_same_v<decltype(same(abstract<XC>(), abstract<WC>()))::layout_type,
                             layout<pod, P<"data", none, none, none>, partial<"model">>>);

// Groups that both split stay split.
using WG = sharded_tensor<float, extents<8, 1, 3, 3>, layout<pod, P<"model", none, none, none>>>;
static_assert(std::is_same_v<decltype(convolution<feature_groups<4>, paddings<1, 1>>(
                                 abstract<XC>(), abstract<WG>()))::layout_type,
                             layout<pod, P<"data", "model", none, none>>>);

// Split rows: one row comes from each of the two neighbours; the batch may be `dyn`.
using XH =
    sharded_tensor<float, extents<8, 4, 32, 16>, layout<pod, P<"data", none, "model", none>>>;
using WH = sharded_tensor<float, extents<16, 4, 3, 3>, layout<pod, P<none, none, none, none>>>;
constexpr auto with_halos = [](const auto& x, const auto& w) {
  return convolution<paddings<1, 1>>(x, w, across<"model">);
};
constexpr auto cost = trace(with_halos, abstract<XH>(), abstract<WH>());
static_assert(std::is_same_v<decltype(with_halos(abstract<XH>(), abstract<WH>()))::layout_type,
                             layout<pod, P<"data", none, "model", none>>>);
static_assert(cost.collectives() == 1 && cost.collectives(collective::halo_exchange) == 1 &&
              cost.bytes_moved() == 2 * 4 * 4 * 16 * 4 && cost.bytes_moved("data") == 0);
using XD =
    sharded_tensor<float, extents<dyn, 4, 32, 16>, layout<pod, P<"data", none, "model", none>>>;
static_assert(trace(with_halos, abstract<XD>(8), abstract<WH>()).bytes_moved() ==
              cost.bytes_moved());

// The gradient fetches the halos of the cotangent, and leaves the sum over positions pending.
constexpr auto loss = [](const auto& x, const auto& w) {
  return reshard<P<>>(sum(square(with_halos(x, w))));
};
constexpr auto back = trace(gradient(loss), abstract<XH>(), abstract<WH>());
static_assert(back.collectives(collective::halo_exchange) == 2 &&
              back.collectives(collective::all_gather) == 0);

// The gradient of the weights contracts the rows of the tensor and of the cotangent, which are
// split alike: windows of one element need no halos, so one all_reduce is all that moves.
using W1 = sharded_tensor<float, extents<16, 4, 1, 1>, layout<pod, P<none, none, none, none>>>;
using XR = sharded_tensor<float, extents<8, 4, 32, 16>, layout<pod, P<none, none, "model", none>>>;
constexpr auto of_weights =
    trace(gradient<1>([](const auto& x, const auto& w) { return sum(square(convolution(x, w))); }),
          abstract<XR>(), abstract<W1>());
static_assert(of_weights.collectives() == 1 &&
              of_weights.collectives(collective::all_reduce, "model") == 1);

// Pooling whose windows end where parts do moves nothing.
static_assert(std::is_same_v<decltype(max_pool<windows<2, 2>>(abstract<XH>()))::layout_type,
                             layout<pod, P<"data", none, "model", none>>>);
static_assert(trace([](const auto& x) { return average_pool<windows<2, 2>>(x); }, abstract<XH>())
                  .collectives() == 0);
