// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/svg_collective.hpp"
#include "shardwise/draw/svg_reshard.hpp"
#include "shardwise/draw/svg_tensor.hpp"
#include "shardwise/operation/reshard.hpp"

namespace shardwise {

namespace detail {
template <class Target, class T, class Extents, class Layout>
[[nodiscard]] constexpr layout_desc target_layout(
    const sharded_tensor<T, Extents, Layout>*) noexcept {
  return reshard_target<typename Layout::mesh_type, policy_of_spec<Layout>, Target>::type::value;
}
}  // namespace detail

/// Returns the picture of a tensor type or of a layout type as the text of an SVG file.
///
///     std::ofstream("rows.svg") << to_svg<layout<pod, P<"data", none>>>();
template <class X>
[[nodiscard]] std::string to_svg() {
  if constexpr (internal::is_sharded_tensor<X>) {
    constexpr detail::picture_subject shown =
        detail::picture_subject_of(static_cast<const X*>(nullptr));
    return to_svg(shown.mesh, shown.tensor);
  } else {
    return to_svg(X::mesh_type::value, X::value);
  }
}

/// Returns the picture of `reshard<Target>` of a tensor type.
///
///     std::ofstream("way.svg") << to_svg<X, P<none, "model">>();
template <class X, class Target>
  requires internal::is_sharded_tensor<X>
[[nodiscard]] std::string to_svg() {
  constexpr detail::picture_subject shown =
      detail::picture_subject_of(static_cast<const X*>(nullptr));
  return to_svg(shown.mesh, shown.tensor,
                detail::target_layout<Target>(static_cast<const X*>(nullptr)));
}

/// Returns the picture of a tensor or an expression without computing it.
template <class X>
  requires requires(const X& x) { x.share()->where(); }
[[nodiscard]] std::string to_svg(const X& x) {
  return to_svg(x.share()->where().mesh(), x.share()->where().tensor());
}

}  // namespace shardwise
