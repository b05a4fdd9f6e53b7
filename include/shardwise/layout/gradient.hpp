// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/key.hpp"
#include "shardwise/layout/tensor_desc.hpp"

namespace shardwise {

/// Returns the layout of the gradient of a value. It is split as the value is, so a constraint on
/// the layout of a value applies to its gradient too. Along axes with a pending sum it is
/// replicated, because the gradient of a sum is the same for each of its terms.
///
/// Pending maxima, minima and products have no such layout, because the gradients of their terms
/// differ.
///
///     // f32[8@data, 4]{partial sum: model}: the gradient is f32[8@data, 4]
[[nodiscard]] constexpr layout_desc gradient_layout(const layout_desc& value) noexcept {
  layout_desc gradient = value.without_halos();
  gradient.pending = 0;
  gradient.kind = reduction::sum;
  return gradient;
}

namespace internal {
template <class X>
struct gradient_type;
template <class T, class Extents, class Layout>
  requires(Layout::value.kind == reduction::sum)
struct gradient_type<sharded_tensor<T, Extents, Layout>> {
  static constexpr layout_desc layout_value = gradient_layout(Layout::value);
  using type =
      sharded_tensor<T, Extents, layout_from_value<typename Layout::mesh_type, gradient_type>>;
};
}  // namespace internal

/// The type of the gradient of a tensor type, whose pending reductions are sums.
///
///     static_assert(std::is_same_v<gradient_of<X>, X>);      // for every X with nothing pending
template <class X>
using gradient_of = typename internal::gradient_type<X>::type;

}  // namespace shardwise
