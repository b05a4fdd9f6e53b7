// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/as.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/scan.hpp"
#include "shardwise/operation/scan_in_parts.hpp"

#include <limits>

namespace shardwise {

/// The common part of the gradients of `logcumsumexp`, which are linear in their second operand.
/// With `w(j, i) = exp(x[j] - logcumsumexp(x)[i])`, the weight of element `j` of the scanned tensor
/// in result `i`, all weights are at most 1, so nothing overflows. An element that is -inf has the
/// weight 0 in every result.
template <fixed_string Name>
struct logcumsumexp_weighted : scan_gradient<Name, 8> {};

struct logcumsumexp_pick_operation;
/// The operation that returns, for each element `j`, the sum of `w(j, i)` times element `i` of the
/// second operand over all `i >= j`.
struct logcumsumexp_share_operation : logcumsumexp_weighted<"logcumsumexp_share"> {
  using emits = emitted_operations<logcumsumexp_pick_operation>;
  static constexpr void gradient(gradient_step& at);
};
/// The operation that returns, for each element `i`, the sum of `w(j, i)` times element `j` of the
/// second operand over all `j <= i`: its mean, weighted.
struct logcumsumexp_pick_operation : logcumsumexp_weighted<"logcumsumexp_pick"> {
  using emits = emitted_operations<logcumsumexp_share_operation>;
  static constexpr void gradient(gradient_step& at);
};
constexpr void logcumsumexp_share_operation::gradient(gradient_step& at) {
  const gradient_value x = at.operand(0);
  const gradient_value picked = emit<logcumsumexp_pick_operation>(at.how(), x, at.cotangent());
  if (at.wants(0))
    at.give(0, at.cotangent() * at.result() -
                   emit<logcumsumexp_share_operation>(at.how(), x, at.operand(1) * picked));
  if (at.wants(1)) at.give(1, picked);
}
constexpr void logcumsumexp_pick_operation::gradient(gradient_step& at) {
  const gradient_value x = at.operand(0);
  const gradient_value shared = emit<logcumsumexp_share_operation>(at.how(), x, at.cotangent());
  if (at.wants(0))
    at.give(0, at.operand(1) * shared -
                   emit<logcumsumexp_share_operation>(at.how(), x, at.cotangent() * at.result()));
  if (at.wants(1)) at.give(1, shared);
}

namespace detail {
/// The combination of the logarithm of the sum of the parts before with those of the parts. There
/// is nothing to add, and no gradient, where it is -inf.
struct combined_logarithms {
  template <class At, class Later, class Before, class Own>
  [[nodiscard]] static constexpr auto joined(const At& at, const Later& is_later,
                                             const Before& before, const Own& own) {
    namespace f = functions;
    const auto lowest = at.number(before, -std::numeric_limits<double>::infinity());
    const auto adds =
        at.template each<f::logical_and>(is_later, at.template each<f::not_equal>(before, lowest));
    const auto safe = at.template each<f::where>(adds, before, at.number(before, 0.0));
    return at.template each<f::where>(adds, at.template each<f::logaddexp>(safe, own), own);
  }
};
}  // namespace detail

/// The operation that computes the logarithm of the sum of the exponentials of all elements up to
/// each one along a dimension.
struct logcumsumexp_operation : running_operation<"logcumsumexp", reduction::sum> {
  using combination = detail::combined_logarithms;
  using emits = emitted_operations<logcumsumexp_share_operation, logcumsumexp_pick_operation>;
  [[nodiscard]] static constexpr bool takes(element type) noexcept { return has_fractions(type); }
  /// Logarithms of terms have no meaning, so a pending sum is an error.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = running_operation::rule(how, operands);
    out.law = linearity::nonlinear;
    return out;
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = 4 * largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  /// See `logcumsumexp_share_operation`.
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<logcumsumexp_share_operation>(at.how(), at.operand(0), at.cotangent()));
  }
};

/// The operation whose attributes are types.
template <int Dim>
struct logcumsumexp_of : applied_along<logcumsumexp_operation, Dim> {};

namespace detail {
template <int Dim, class Permitted>
using logcumsumexp_call =
    fractional_call<logcumsumexp_of<Dim>, fetching_call<logcumsumexp_of<Dim>, Permitted>>;
}  // namespace detail

/// Returns the logarithm of the running sum of exponentials along a dimension, JAX's
/// `cumlogsumexp`. No exponential overflows, however large the elements are; an element that is
/// -inf adds nothing, and its gradient is 0. The dimension must not be split, unless axes are
/// permitted, as for `cumsum`. The elements must be floating-point numbers without a pending
/// reduction.
///
///     auto y = logcumsumexp<1>(x);           // f32[8@data, 4]: log 1, log 2, log 3 becomes
///                                            // log 1, log 3, log 6
///     auto z = logcumsumexp<1>(x, across<"model">);
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(!detail::may_scan_in_parts<logcumsumexp_of<Dim>, X, Given>)
[[nodiscard]] constexpr internal::outcome_on<
    detail::logcumsumexp_call<Dim, internal::permitted_by<Given>>, Given, X>
logcumsumexp(X&& x, const Given& given = {}) {
  return internal::carry_out_on<detail::logcumsumexp_call<Dim, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
  requires detail::may_scan_in_parts<logcumsumexp_of<Dim>, X, Given>
[[nodiscard]] constexpr auto logcumsumexp(X&& x, const Given& given = {}) {
  return detail::run_between_devices<detail::scan_call<logcumsumexp_of<Dim>>>(static_cast<X&&>(x),
                                                                              given);
}

}  // namespace shardwise
