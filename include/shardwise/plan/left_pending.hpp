// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/differentiable.hpp"

#include <type_traits>

namespace shardwise {

/// Requests gradients that are pending sums over these axes, if a tensor is not split over them.
/// Their types show it, and they cannot be read until a reshard finishes the sums. A gradient that
/// every device computes in full is divided into equal terms.
///
///     auto dw = gradient(loss, left_pending<"data">)(w, x);   // f32[64, 32]{partial sum: data}
template <fixed_string... Axes>
struct left_pending_over {
  /// Checks that each axis is one of the mesh of a tensor in these nests.
  template <class... Nest>
  [[nodiscard]] static constexpr diagnosis check() noexcept {
    diagnosis verdict;
    [[maybe_unused]] const auto look = [&](text_view axis) {
      const auto has_axis = [&]<class Each>(std::type_identity<Each>) {
        if constexpr (Operand<Each> && !AnyRefused<Each>)
          return mesh_of<Each>::value.find(axis) >= 0;
        else
          return EitherOperand<Each>;
      };
      if (verdict.ok() && !(... || internal::any_in_nest<Nest>(has_axis)))
        verdict = {.rule = violation::axis_is_not_in_mesh, .axis = short_name(axis)};
    };
    (look(Axes), ...);
    return verdict;
  }
  [[nodiscard]] static constexpr layout_desc layout(const mesh_desc& mesh,
                                                    const layout_desc& of) noexcept {
    layout_desc out = gradient_layout(of);
    [[maybe_unused]] const auto add = [&](text_view name) {
      const int axis = mesh.find(name);
      if (axis >= 0 && out.dim_of(static_cast<std::uint8_t>(axis)) < 0 &&
          (out.manual >> axis & 1) == 0)
        out.pending = static_cast<std::uint8_t>(out.pending | 1U << axis);
    };
    (add(Axes), ...);
    return out;
  }
};
template <fixed_string... Axes>
inline constexpr left_pending_over<Axes...> left_pending{};

namespace internal {

/// The layout type of the gradient of a tensor with this layout.
template <class Layout, class Request>
struct gradient_layout_of {
  using mesh_type = typename Layout::mesh_type;
  struct wanted {
    static constexpr layout_desc layout_value = Request::layout(mesh_type::value, Layout::value);
  };
  using type = changed_layout<Layout, wanted>;
};

/// The type of the gradient of a tensor.
template <class X, class Request>
struct asked_gradient {
  using type = X;
};
template <Operand X, class Request>
struct asked_gradient<X, Request> {
  using type = typename X::domain::template tensor<
      typename X::value_type, typename X::extents_type,
      typename gradient_layout_of<typename X::layout_type, Request>::type>;
};

template <class T, class Extents, class Layout>
struct gradient_type<abstract_tensor<T, Extents, Layout>>
    : asked_gradient<abstract_tensor<T, Extents, Layout>, left_pending_over<>> {};

}  // namespace internal

}  // namespace shardwise
