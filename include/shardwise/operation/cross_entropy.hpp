// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/index_at.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/special.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/stack.hpp"
#include "shardwise/operation/take.hpp"
#include "shardwise/operation/transcendental.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace shardwise {

/// The cross entropy of logits and labels on abstract tensors; its integer is the dimension of the
/// classes. Labels are integers without that dimension, or probabilities of the shape of the
/// logits. It is computed as a composition of other operations.
struct cross_entropy_operation {
  static constexpr text_view name = "cross_entropy";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = detail::normalising_rule(rank, over(how.integers[0]).bits());
    const auto whole = out.result;
    out.result.clear();
    for (int d = 0; d < rank; ++d)
      if (d != how.integers[0]) out.result.push_back(static_cast<std::uint8_t>(d));
    const bool is_whole = has_probabilities(operands) && operands[1].rank() == rank;
    out.operands.push_back(is_whole ? whole : out.result);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    if (const diagnosis dims = over(how.integers[0]).judge(rank); !dims.ok()) return dims;
    if (has_probabilities(operands) && operands[1].rank() != rank)
      return {.rule = violation::operand_rank_differs,
              .operand = 1,
              .have = operands[1].rank(),
              .want = rank};
    return {};
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    if (has_probabilities(operands)) return check_alike(operands);
    const diagnosis numbers = check_alike({operands[0]});
    return numbers.ok() ? check_indices(operands, 1, 2) : numbers;
  }
  /// True for labels that are probabilities of the classes.
  [[nodiscard]] static constexpr bool has_probabilities(const tensor_descs& operands) noexcept {
    return operands.ssize() > 1 && has_fractions(operands[1].type);
  }
};

/// The operation whose attributes are types.
template <int Dim>
struct cross_entropy_of {
  using operation_class = cross_entropy_operation;
  static constexpr attributes how = integer_attributes(Dim);
};

namespace internal {

/// Finishes the reductions of several tensors of the same extents over permitted axes: those that
/// are pending are reduced in one collective. Returns a tuple.
template <class Permitted>
struct finishes_together {
  template <class First, class... X>
  [[nodiscard]] static constexpr auto apply(const First& first, const X&... x) {
    if constexpr (ValueOperand<First>) {
      return by_values(first, x...);
    } else {
      constexpr int pending = (is_pending<First> + ... + is_pending<X>);
      if constexpr (pending < 2) {
        return std::tuple{finished(first, Permitted{}), finished(x, Permitted{})...};
      } else {
        const auto stacked = [](const auto&... each) { return stack<0>(each...); };
        const auto all = finished(
            std::apply(stacked, std::tuple_cat(if_pending(first), if_pending(x)...)), Permitted{});
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          return std::tuple{part<place_of<I, First, X...>>(all, x_at<I>(first, x...))...};
        }
        (std::index_sequence_for<First, X...>{});
      }
    }
  }

 private:
  template <class X>
  static constexpr int is_pending = X::layout_type::value.pending != 0 ? 1 : 0;
  /// The place of an operand among those that are pending, or -1.
  template <std::size_t At, class... X>
  static constexpr index_t place_of = [] {
    constexpr int pending[] = {is_pending<X>...};
    index_t place = pending[At] - 1;
    for (std::size_t i = 0; i < At; ++i) place += pending[At] * pending[i];
    return place;
  }();
  template <std::size_t At, class... X>
  [[nodiscard]] static constexpr const auto& x_at(const X&... x) {
    return std::get<At>(std::tie(x...));
  }
  template <class X>
  [[nodiscard]] static constexpr auto if_pending(const X& x) {
    if constexpr (is_pending<X> != 0)
      return std::tuple<const X&>(x);
    else
      return std::tuple<>();
  }
  template <index_t Place, class All, class X>
  [[nodiscard]] static constexpr auto part(const All& all, const X& x) {
    if constexpr (Place < 0)
      return X(x);
    else
      return index_at<0, Place>(all);
  }

  /// Of two or three tensors whose layouts are values.
  template <class First, class... X>
  [[nodiscard]] static auto by_values(const First& first, const X&... x) {
    using made = typename First::value_domain::template tensor<typename First::value_type>;
    std::array<made, sizeof...(X) + 1> all{made(first), made(x)...};
    inplace_vector<std::size_t, sizeof...(X) + 1> pending;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].layout().pending != 0) pending.push_back(i);
    if (pending.ssize() < 2) {
      for (made& each : all) each = finished(each, Permitted{});
    } else {
      const auto at = [&](int i) -> made& { return all[pending[i]]; };
      const made both =
          pending.ssize() == 2 ? made(stack<0>(at(0), at(1))) : made(stack<0>(at(0), at(1), at(2)));
      const made stacked = finished(both, Permitted{});
      at(0) = index_at<0, 0>(stacked);
      at(1) = index_at<0, 1>(stacked);
      if (pending.ssize() == 3) at(2) = index_at<0, 2>(stacked);
    }
    return std::tuple_cat(all);
  }
};

}  // namespace internal

namespace detail {

template <int Dim, class Permitted>
struct cross_entropy_steps {
  template <class X, class Labels>
  [[nodiscard]] static constexpr auto apply(const X& logits, const Labels& labels) {
    using T = typename X::value_type;
    using together = finishes_together<Permitted>;
    const auto below = below_greatest<Dim>(widened(logits), Permitted{});
    const auto total = sum<Dim>(exp(below));
    if constexpr (Fractional<typename Labels::value_type>) {
      const auto wanted = widened(labels);
      // Probabilities may have any sum, such as those that are multiplied by weights.
      const auto [all, chosen, mass] =
          together::apply(total, sum<Dim>(weighted(below, wanted)), sum<Dim>(wanted));
      return narrowed<T>(log(all) * mass - chosen);
    } else {
      const auto label = squeeze<Dim>(take_along<Dim>(below, unsqueeze<Dim>(labels)));
      const auto [all, chosen] = together::apply(total, label);
      return narrowed<T>(log(all) - chosen);
    }
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
/// Labels that are no integers but have the shape and the elements of the logits are probabilities
/// of the classes, or weights `p`: the loss is `-sum(p log_softmax(logits))`, in which classes of
/// weight 0 do not count, whatever their logits.
///
/// The dimension of the classes must not be split, unless axes are permitted: then there are two
/// small reductions, of the maximum, and of the sum together with the logit of the label, or with
/// the sums over probabilities.
///
///     auto loss = mean(cross_entropy<1>(logits, labels, across<"model">));
///                                            // f32[8@data, 100@model], i32[8@data]
///     auto soft = mean(cross_entropy<1>(logits, softmax<1>(teacher)));
template <int Dim, NamedOperand X, NamedOperand Labels, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::cross_entropy_call<Dim, internal::permitted_by<Given>>, Given, X, const Labels&>
cross_entropy(X&& logits, const Labels& labels, const Given& given = {}) {
  return internal::carry_out_on<detail::cross_entropy_call<Dim, internal::permitted_by<Given>>,
                                Given, X, const Labels&>(given, static_cast<X&&>(logits), labels);
}

}  // namespace shardwise
