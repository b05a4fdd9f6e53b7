// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/between_devices.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/scan_parts.hpp"
#include "shardwise/operation/squeeze.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// The steps of a scan that types and values have in common.
struct scan_of_tensors {
  template <class Function, class... X>
  [[nodiscard]] static constexpr auto each(X&&... x) {
    return elementwise<Function>(static_cast<X&&>(x)...);
  }
  template <class X, class Number>
  [[nodiscard]] static constexpr Number number(const X&, Number value) noexcept {
    return value;
  }
  template <class X>
  [[nodiscard]] static constexpr auto widen(const X& x) {
    return widened(x);
  }
  template <class Like, class X>
  [[nodiscard]] static constexpr auto narrow(const Like&, X&& x) {
    return narrowed<typename Like::value_type>(static_cast<X&&>(x));
  }
};

/// The steps of a scan on tensors whose layouts are types.
template <class Plan>
struct scan_of_types : scan_of_tensors {
  static constexpr const scan_parts& plan = Plan::value;

  template <class Class, auto How>
  struct step {
    using operation_class = Class;
    static constexpr attributes how = (Plan::value.*How)();
  };
  template <class Class, auto How, class Made = void, class X>
  [[nodiscard]] constexpr auto apply(X&& x) const {
    return apply_operation<step<Class, How>>(across_axes<>{}, static_cast<X&&>(x));
  }
  template <class X>
  [[nodiscard]] constexpr auto fill(const X& x) const {
    if constexpr (plan.missing() == 0)
      return X(x);
    else
      return apply<pad_operation, &scan_parts::fill>(x);
  }
  template <class X>
  [[nodiscard]] constexpr auto trim(X&& x) const {
    if constexpr (plan.missing() == 0)
      return std::remove_cvref_t<X>(static_cast<X&&>(x));
    else
      return apply<slice_operation, &scan_parts::trim>(static_cast<X&&>(x));
  }
  template <class X>
  struct unsplit {
    static constexpr layout_desc layout_value = [] {
      layout_desc layout = X::layout_type::value;
      layout.unsplit(plan.dim);
      return layout;
    }();
  };
  template <class X>
  [[nodiscard]] constexpr auto gather(const X& x) const {
    return reshard<layout_from_value<mesh_of<X>, unsplit<X>>>(x);
  }
  template <class X, class Like>
  [[nodiscard]] constexpr auto lay_out(X&& x, const Like&) const {
    using wanted = typename Like::layout_type;
    if constexpr (std::is_same_v<typename std::remove_cvref_t<X>::layout_type, wanted>)
      return std::remove_cvref_t<X>(static_cast<X&&>(x));
    else
      return reshard<wanted>(static_cast<X&&>(x));
  }
};

/// The steps of a scan on tensors whose layouts are values.
struct scan_of_values : scan_of_tensors {
  const scan_parts& plan;

  explicit scan_of_values(const scan_parts& planned) noexcept : plan(planned) {}

  template <class Class, auto How, class Made = void, class X>
  [[nodiscard]] auto apply(X&& x) const {
    using tensor = std::remove_cvref_t<X>;
    using made = std::conditional_t<std::is_void_v<Made>, typename tensor::value_type, Made>;
    return tensor::value_domain::template apply_with<Class, made>((plan.*How)(),
                                                                  static_cast<X&&>(x));
  }
  template <class X>
  [[nodiscard]] X fill(const X& x) const {
    return plan.missing() == 0 ? x : apply<pad_operation, &scan_parts::fill>(x);
  }
  template <class X>
  [[nodiscard]] X trim(X x) const {
    if (plan.missing() == 0) return x;
    return apply<slice_operation, &scan_parts::trim>(std::move(x));
  }
  template <class X>
  [[nodiscard]] X gather(const X& x) const {
    layout_desc layout = x.layout();
    layout.unsplit(plan.dim);
    return reshard(x, layout);
  }
  template <class X, class Like>
  [[nodiscard]] X lay_out(X x, const Like& like) const {
    return x.layout() == like.layout() ? x : reshard(x, like.layout());
  }
};

/// Scans a tensor whose dimension is split, with an operation of class `Class`. What is computed in
/// a wider type is rounded once. `At` applies the steps to types, values or on paper.
template <class Class, class At, class X>
[[nodiscard]] constexpr auto scan_in_parts(At at, const X& x) {
  const auto own = at.template apply<Class, &scan_parts::within_parts>(
      at.template apply<reshape_operation, &scan_parts::divide>(at.fill(at.widen(x))));
  const auto total = at.template apply<slice_operation, &scan_parts::last>(own);
  auto totals = at.template apply<Class, &scan_parts::over_parts>(at.gather(total));
  const auto before =
      at.lay_out(at.template apply<pad_operation, &scan_parts::move_on>(
                     at.template apply<slice_operation, &scan_parts::drop_last>(std::move(totals))),
                 total);
  const auto index =
      at.template apply<iota_like_operation, &scan_parts::over_parts, std::int64_t>(before);
  const auto beside = [&](const auto& each) {
    return at.template apply<unsqueeze_operation, &scan_parts::within_parts>(each);
  };
  const auto is_later = beside(at.template each<functions::greater>(index, at.number(index, 0)));
  auto made = at.narrow(x, Class::combination::joined(at, is_later, beside(before), own));
  return at.lay_out(
      at.trim(at.template apply<reshape_operation, &scan_parts::join>(std::move(made))), x);
}

/// The combination of the total of the parts before with the elements of the parts: a function of
/// both, except in the first part.
template <class Function>
struct combined_by {
  template <class At, class Later, class Before, class Own>
  [[nodiscard]] static constexpr auto joined(const At& at, const Later& is_later,
                                             const Before& before, const Own& own) {
    return at.template each<functions::where>(is_later, at.template each<Function>(before, own),
                                              own);
  }
};
/// The same for extremes, which are selected, so that the first of equal elements has the gradient.
/// NaN stays.
template <class Holds>
struct selected_by {
  template <class At, class Later, class Before, class Own>
  [[nodiscard]] static constexpr auto joined(const At& at, const Later& is_later,
                                             const Before& before, const Own& own) {
    namespace f = functions;
    const auto stays = at.template each<f::logical_or>(
        at.template each<Holds>(before, own), at.template each<f::not_equal>(before, before));
    return at.template each<f::where>(at.template each<f::logical_and>(is_later, stays), before,
                                      own);
  }
};

/// The call of a scan along one dimension.
template <class Operation>
struct scan_call {
  using operation = Operation;
  using class_type = typename Operation::operation_class;

  /// True for tensors of elements that are scanned; the operation refuses all others.
  template <class X>
  static constexpr bool takes =
      class_type::takes(element_of<typename std::remove_cvref_t<X>::value_type>);

  [[nodiscard]] static constexpr scan_parts plan(const mesh_desc& mesh, const tensor_desc& x,
                                                 unsigned permitted) noexcept {
    return scan_parts::of(mesh, x, attributes_for<operation>(x.rank()).integers[0], permitted);
  }
  template <class Plan, class Permitted, class X>
  [[nodiscard]] static constexpr auto on_types(const X& x) {
    return scan_in_parts<class_type>(scan_of_types<Plan>{}, x);
  }
  template <class X>
  [[nodiscard]] static X on_values(const X& x, const scan_parts& plan) {
    return scan_in_parts<class_type>(scan_of_values(plan), x);
  }
};

/// True if devices may scan their parts of such a tensor.
template <class Operation, class X, class Given>
inline constexpr bool may_scan_in_parts = [] {
  if constexpr (AnyRefused<X> || !EitherOperand<X>)
    return false;
  else if constexpr (!scan_call<Operation>::template takes<X>)
    return false;
  else
    return may_run_between_devices<scan_call<Operation>, X, Given>;
}();

/// Returns the result of a scan, in parts where that is possible.
template <class Operation, class Given, class X>
  requires may_scan_in_parts<Operation, X, Given>
[[nodiscard]] constexpr auto apply_scan(const Given& given, X&& x) {
  return run_between_devices<scan_call<Operation>>(static_cast<X&&>(x), given);
}
template <class Operation, class Given, class X>
  requires(!may_scan_in_parts<Operation, X, Given>)
[[nodiscard]] constexpr auto apply_scan(const Given& given, X&& x)
    -> decltype(apply_operation<Operation>(given, static_cast<X&&>(x))) {
  return apply_operation<Operation>(given, static_cast<X&&>(x));
}

}  // namespace shardwise::detail
