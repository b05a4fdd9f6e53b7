// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/channel_norm.hpp"
#include "shardwise/operation/layer_norm.hpp"

#include <ratio>

namespace shardwise::nn {

/// Normalises the last dimension: subtracts its mean, divides by its standard deviation, multiplies
/// by `scale` and adds `shift`. `Epsilon`, a `std::ratio`, is added to the variance. The dimension
/// must not be split, except over axes of `Permitted`, over which the two means are reduced.
///
///     nn::layer_norm<V> norm{ones<V>(pool), zeros<V>(pool)};
///     using split = nn::layer_norm<V, V, std::ratio<1, 100000>, across_axes<"model">>;
template <class Scale, class Shift = Scale, class Epsilon = std::ratio<1, 100000>,
          class Permitted = across_axes<>>
struct layer_norm {
  Scale scale;
  Shift shift;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return shardwise::layer_norm<-1>(x, scale, shift, detail::value_of_ratio<Epsilon>, Permitted{});
  }
};

/// Divides by the root mean square along the last dimension and multiplies by `scale`; otherwise
/// like `nn::layer_norm`.
template <class Scale, class Epsilon = std::ratio<1, 1000000>, class Permitted = across_axes<>>
struct rms_norm {
  Scale scale;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return shardwise::rms_norm<-1>(x, scale, detail::value_of_ratio<Epsilon>, Permitted{});
  }
};

/// Normalises each of `Groups` groups of channels of `[batch, channels, spatial...]`, multiplies
/// by `scale` and adds `shift`, both `[channels]`; see the function. Axes of `Permitted` may split
/// positions.
///
///     nn::group_norm<8, V> norm{ones<V>(pool), zeros<V>(pool)};
template <index_t Groups, class Scale, class Shift = Scale, class Epsilon = std::ratio<1, 100000>,
          class Permitted = across_axes<>>
struct group_norm {
  Scale scale;
  Shift shift;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return shardwise::group_norm<Groups>(x, scale, shift, detail::value_of_ratio<Epsilon>,
                                         Permitted{});
  }
};

/// Normalises each channel of each element of the batch; otherwise like `nn::group_norm`.
template <class Scale, class Shift = Scale, class Epsilon = std::ratio<1, 100000>,
          class Permitted = across_axes<>>
struct instance_norm {
  Scale scale;
  Shift shift;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return shardwise::instance_norm(x, scale, shift, detail::value_of_ratio<Epsilon>, Permitted{});
  }
};

}  // namespace shardwise::nn
