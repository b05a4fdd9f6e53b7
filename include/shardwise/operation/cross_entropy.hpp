// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/index_at.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/stack.hpp"
#include "shardwise/operation/take.hpp"
#include "shardwise/operation/transcendental.hpp"

namespace shardwise {

/// The cross entropy of logits and integer labels on abstract tensors; its integer is the dimension
/// of the classes. It is computed as a composition of other operations.
struct cross_entropy_operation {
  static constexpr text_view name = "cross_entropy";

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = detail::normalising_rule(rank, over(how.integers[0]).bits());
    out.result.clear();
    for (int d = 0; d < rank; ++d)
      if (d != how.integers[0]) out.result.push_back(static_cast<std::uint8_t>(d));
    out.operands.push_back(out.result);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    const diagnosis numbers = check_alike({operands[0]});
    return numbers.ok() ? check_indices(operands, 1, 2) : numbers;
  }
};

/// The operation whose attributes are types.
template <int Dim>
struct cross_entropy_of {
  using operation_class = cross_entropy_operation;
  static constexpr attributes how = integer_attributes(Dim);
};

namespace detail {

template <int Dim, class Permitted>
struct cross_entropy_steps {
  template <class X, class Labels>
  [[nodiscard]] static constexpr auto apply(const X& logits, const Labels& labels) {
    using T = typename X::value_type;
    const auto x = widened(logits);
    const auto below = below_greatest<Dim>(x, Permitted{});
    const auto total = sum<Dim>(exp(below));
    const auto chosen = squeeze<Dim>(take_along<Dim>(below, unsqueeze<Dim>(labels)));
    return narrowed<T>(difference(total, chosen));
  }

 private:
  /// Returns `log(total) - chosen`. If both are pending, both are reduced in one collective.
  template <class X, class Y>
  [[nodiscard]] static constexpr auto difference(const X& total, const Y& chosen) {
    if constexpr (ValueOperand<X>) {
      using made = typename X::value_domain::template tensor<typename X::value_type>;
      if (total.layout().pending == 0) return made(log(total) - chosen);
      return made(exchanged(total, chosen));
    } else if constexpr (X::layout_type::value.pending == 0) {
      return log(total) - chosen;
    } else {
      return exchanged(total, chosen);
    }
  }
  template <class X, class Y>
  [[nodiscard]] static constexpr auto exchanged(const X& total, const Y& chosen) {
    const auto both = finished(stack<0>(total, chosen), Permitted{});
    return log(index_at<0, 0>(both)) - index_at<0, 1>(both);
  }
};

template <int Dim, class Permitted>
using cross_entropy_call =
    composed_call<cross_entropy_of<Dim>, Permitted, cross_entropy_steps<Dim, Permitted>, 2>;

}  // namespace detail

/// Returns the negative logarithm of the probability of each label, where `softmax<Dim>(logits)`
/// are the probabilities of the classes: one loss for each label, to be summed or averaged. A label
/// that is out of range throws `index_is_out_of_range`.
///
/// The dimension of the classes must not be split, unless axes are permitted: then there are two
/// small reductions, of the maximum, and of the sum together with the logit of the label.
///
///     auto loss = mean(cross_entropy<1>(logits, labels, across<"model">));
///                                            // f32[8@data, 100@model], i32[8@data]
template <int Dim, NamedOperand X, NamedOperand Labels, detail::Terms Given = across_axes<>>
[[nodiscard]] constexpr detail::outcome_on<
    detail::cross_entropy_call<Dim, detail::permitted_by<Given>>, Given, X, const Labels&>
cross_entropy(X&& logits, const Labels& labels, const Given& given = {}) {
  return detail::carry_out_on<detail::cross_entropy_call<Dim, detail::permitted_by<Given>>, Given,
                              X, const Labels&>(given, static_cast<X&&>(logits), labels);
}

}  // namespace shardwise
