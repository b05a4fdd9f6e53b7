// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/manual_collectives.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// The plan of a call on a tensor whose layout is a type.
template <class Call, class X, class Permitted>
struct planned_between_devices {
  static constexpr auto value =
      Call::plan(mesh_of<X>::value, paper_of<X>::value, Permitted::bits(mesh_of<X>::value));
};

/// True if devices compute a call on such a tensor by exchanging what they need of it, or on one
/// whose layout is a value, which decides. Nothing is exchanged without permission.
template <class Call, class X, class Given>
inline constexpr bool may_run_between_devices = [] {
  if constexpr (AnyRefused<X> || std::is_same_v<permitted_by<Given>, across_axes<>>)
    return false;
  else if constexpr (Operand<X>)
    return permitted_by<Given>::check(mesh_of<X>::value).ok() &&
           planned_between_devices<Call, X, permitted_by<Given>>::value.is_possible();
  else
    return ValueOperand<X>;
}();

/// Runs a call for which devices exchange parts of its operand where its plan is possible, and
/// gather otherwise. `Call` has the operation for the second case; `plan(mesh, tensor, permitted)`,
/// the plan if devices may communicate over a bit mask of axes; and its steps, `on_types` for a
/// plan and permitted axes that are types, and `on_values`.
template <class Call, class X, class Given>
[[nodiscard]] constexpr auto run_between_devices(X&& x, const Given& given) {
  using permitted = permitted_by<Given>;
  if constexpr (Operand<X>) {
    using plan = planned_between_devices<Call, X, permitted>;
    return laid_out_on(given, Call::template on_types<plan, permitted>(static_cast<X&&>(x)));
  } else {
    const auto plan = Call::plan(x.mesh(), x.tensor(), permitted::bits(x.mesh()));
    if (permitted::check(x.mesh()).ok() && plan.is_possible())
      return laid_out_on(given, Call::on_values(x, plan));
    return apply_operation<typename Call::operation>(given, static_cast<X&&>(x));
  }
}

/// The steps of manual sharding for tensors whose layouts are values.
struct value_steps {
  template <class X>
  [[nodiscard]] static X enter(const X& x) {
    return X::value_domain::template manually<X>(x, to_manual(x.mesh(), x.tensor()).tensor);
  }
  template <class X>
  [[nodiscard]] static X call(const manual_collective& called, X x) {
    const tensor_desc made = called.apply(x.mesh(), x.tensor()).tensor;
    return X::value_domain::template manually<X>(std::move(x), made, called);
  }
  template <class X>
  [[nodiscard]] static X leave(X x, const layout_desc& target) {
    const tensor_desc made = from_manual(x.mesh(), x.tensor(), target).tensor;
    return X::value_domain::template manually<X>(std::move(x), made);
  }
};

}  // namespace shardwise::detail
