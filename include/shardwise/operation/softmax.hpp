// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/transcendental.hpp"

namespace shardwise {

/// Softmax and its logarithm on abstract tensors; the integers are the dimension and whether it is
/// the logarithm. It is computed as a composition of other operations.
struct softmax_operation {
  static constexpr text_view name = "softmax";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    return detail::normalising_rule(operands[0].rank(), over(how.integers[0]).bits());
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
};

/// The operation along `Dim` whose attributes are types.
template <int Dim>
struct softmax_of {
  using operation_class = softmax_operation;
  static constexpr attributes how = integer_attributes(Dim);
};
template <int Dim>
struct log_softmax_of : softmax_of<Dim> {};

namespace detail {

template <int Dim, class Permitted>
struct softmax_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& given) {
    using T = typename X::value_type;
    const auto x = widened(given);
    const auto terms = exp(below_greatest<Dim>(x, Permitted{}));
    return narrowed<T>(terms / finished(sum<Dim>(terms, keep_dims), Permitted{}));
  }
};
template <int Dim, class Permitted>
struct log_softmax_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& given) {
    using T = typename X::value_type;
    const auto x = widened(given);
    const auto below = below_greatest<Dim>(x, Permitted{});
    return narrowed<T>(below - log(finished(sum<Dim>(exp(below), keep_dims), Permitted{})));
  }
};

template <int Dim, class Permitted>
using softmax_call = composed_call<softmax_of<Dim>, Permitted, softmax_steps<Dim, Permitted>>;
template <int Dim, class Permitted>
using log_softmax_call =
    composed_call<log_softmax_of<Dim>, Permitted, log_softmax_steps<Dim, Permitted>>;

}  // namespace detail

/// Returns `exp(x)` divided by its sum along a dimension, computed from differences to the maximum
/// to avoid overflow. `bfloat16` and `float16` are computed in `float` and rounded once.
///
/// The dimension must not be split, unless axes are permitted: then there are two small reductions
/// over them, of the maximum and the sum.
///
///     auto p = softmax<1>(scores);
///     auto q = softmax<1>(logits, across<"model">);      // f32[8@data, 100@model]
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::softmax_call<Dim, internal::permitted_by<Given>>, Given, X>
softmax(X&& x, const Given& given = {}) {
  return internal::carry_out_on<detail::softmax_call<Dim, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}
/// Returns the logarithm of `softmax`, accurate even where that is close to 0.
///
///     auto p = log_softmax<1>(logits, across<"model">);
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::log_softmax_call<Dim, internal::permitted_by<Given>>, Given, X>
log_softmax(X&& x, const Given& given = {}) {
  return internal::carry_out_on<detail::log_softmax_call<Dim, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

/// Deleted: the dimension is a template argument.
template <NamedOperand X, class... Rest>
refused_value softmax(const X&, const Rest&...) = delete;  // softmax<1>(x)
template <NamedOperand X, class... Rest>
refused_value log_softmax(const X&, const Rest&...) = delete;  // log_softmax<1>(x)

}  // namespace shardwise
