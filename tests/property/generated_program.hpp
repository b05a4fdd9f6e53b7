// SPDX-License-Identifier: BSL-1.0
// Programs composed of a few operations, each from f32[n, 6] to f32[n, 6] with any layout.
#pragma once

#include <shardwise/shardwise.hpp>

namespace generated {

using namespace shardwise;

struct grid : mesh<axis<"data", 2>, axis<"model", 3>> {};

using X = sharded_tensor<float, extents<dyn, 6>, layout<grid, P<"data", none>, partial<>, uneven>>;
using W = sharded_tensor<float, extents<6, 6>, layout<grid, P<none, "model">>>;
using V = sharded_tensor<float, extents<6, 6>, layout<grid, P<"model", none>>>;

/// A function that reads its argument twice.
constexpr auto squared = []<class H>(H&& h) { return static_cast<H&&>(h) * static_cast<H&&>(h); };

/// The operations of which programs consist, each from f32[n, 6] to f32[n, 6] with any layout.
template <int Step>
constexpr auto apply_step(const auto& h, const auto& w, const auto& v) {
  if constexpr (Step == 0) {
    return relu(h * 0.5F - 1.0F) + h;
  } else if constexpr (Step == 1) {
    auto a = h * 0.25F;  // a name, read twice: computed once
    return a * a + a;
  } else if constexpr (Step == 2) {
    return maximum(einsum<"bi,io->bo">(reshard<P<"data", none>>(h), w), 0.0F);
  } else if constexpr (Step == 3) {
    return reshard<P<"data", none>>(einsum<"bi,io->bo">(reshard<P<"data", "model">>(h), v));
  } else if constexpr (Step == 4) {
    return reshard<P<none, by("model", "data")>, uneven>(h);
  } else if constexpr (Step == 5) {
    auto columns = reshard<P<none>>(sum<0>(reshard<P<"data", none>>(h) * 2.0F));
    return reshard<P<"data", none>>(h) - columns;
  } else if constexpr (Step == 6) {
    auto peak = reshard<P<none>>(max<0>(reshard<P<by("data", "model"), none>>(h)));
    return reshard<P<none, none>>(h) - peak;
  } else if constexpr (Step == 8) {
    auto cyclic_rows = reshard<P<block_cyclic<2>("data"), cyclic("model")>, uneven>(h);
    auto columns = reshard<P<none>>(sum<0>(cyclic_rows));
    return cyclic_rows * 2.0F - columns;
  } else if constexpr (Step == 9) {
    return reshard<P<"model", none>>(h) +
           reshard<P<"model", none>>(squared(reshard<P<none, none>>(squared(h - 0.5F)) * 0.25F));
  } else if constexpr (Step == 10) {
    auto rows = reshard<P<"data", none>>(h);
    auto turned = einsum<"bi,io->bo">(flip<1>(rows), transpose<1, 0>(reshard<P<none, none>>(w)));
    return squeeze<0>(unsqueeze<0>(turned) * 0.5F) + flip<1>(rows);
  } else if constexpr (Step == 11) {
    auto rows = reshard<P<"data", none>>(h * 0.5F);
    return slice_in_dim<1, open_end, open_end, -1>(rows) -
           concatenate<1>(slice_in_dim<1, 4, 6>(rows), slice_in_dim<1, 0, 4>(rows));
  } else {
    [[maybe_unused]] auto unread = sum(h);
    return reshard<P<"model", none>>(h * 3.0F) * reshard<P<"model", none>>(h);
  }
}

template <int... Steps>
struct generated_program {
  template <class H>
  static constexpr auto run(const H& h, const auto&, const auto&) {
    return h * 1.0F;
  }
};
template <int First, int... Rest>
struct generated_program<First, Rest...> {
  static constexpr auto run(const auto& h, const auto& w, const auto& v) {
    return generated_program<Rest...>::run(apply_step<First>(h, w, v), w, v);
  }
};

}  // namespace generated
