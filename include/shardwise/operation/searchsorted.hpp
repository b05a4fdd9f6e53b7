// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/rule/contraction_order.hpp"
#include "shardwise/rule/einsum.hpp"

#include <cstdint>
#include <type_traits>

namespace shardwise {

/// Before or behind elements that are equal to a value.
enum class search_side { left, right };

/// The search in sorted sequences on abstract tensors: the counts of their elements. It is computed
/// as a composition of other operations.
struct searchsorted_operation {
  static constexpr text_view name = "searchsorted";

  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    if (operands[0].rank() > 1) {
      factor_rule out = parse_einsum(named_dimensions("...i,...j->...j",
                                                      {operands[0].extents, operands[1].extents}))
                            .rule;
      out.law = linearity::nonlinear;
      return out;
    }
    factor_rule out = same_dimensions_rule(linearity::nonlinear, operands[1].rank());
    const auto sorted = static_cast<std::uint8_t>(out.factors.ssize());
    out.factors.push_back(factor_kind::reduction);
    out.operands = {factor_map{sorted}, out.operands[0]};
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    if (operands[0].rank() < 2) return over(0).judge(operands[0].rank());
    return over(0).judge(operands[1].rank());
  }

  /// Return the dimensions of size 1 that are appended to a sorted sequence and prepended to
  /// values, so that the two broadcast. Values of any rank beside a single sequence need none.
  [[nodiscard]] static constexpr attributes behind_sorted(const extents_desc& sorted,
                                                          const extents_desc& values) noexcept {
    attributes out;
    if (sorted.ssize() > 1) return integer_attributes(sorted.ssize());
    for (int d = 1; d <= values.ssize(); ++d) out.integers.push_back(d);
    return out;
  }
  [[nodiscard]] static constexpr attributes before_values(const extents_desc& values,
                                                          const extents_desc& sorted) noexcept {
    return sorted.ssize() > 1 ? integer_attributes(values.ssize() - 1) : attributes{};
  }
  /// Returns the sum over the elements of a sorted sequence with which values have been compared.
  [[nodiscard]] static constexpr attributes counting(const extents_desc& compared,
                                                     const extents_desc& sorted) noexcept {
    const int dim = sorted.ssize() > 1 ? compared.ssize() - 2 : 0;
    return reduction_operation::how(reduction::sum, 1U << dim, false);
  }
};

/// The operation as a type.
struct searchsorted_of : without_attributes<searchsorted_operation> {};

namespace detail {

/// Counts the elements before each value, where NaN is the largest, in one pass over all pairs.
template <search_side Side>
struct searchsorted_steps {
  using of = searchsorted_operation;

  template <class Sorted, class Values>
  [[nodiscard]] static constexpr auto apply(const Sorted& sorted, const Values& values) {
    // Temporaries, which the pass reads in its own loops.
    const auto element = [&] { return apart<&of::behind_sorted>(sorted, values); };
    const auto value = [&] { return apart<&of::before_values>(values, sorted); };
    constexpr bool is_left = Side == search_side::left;
    if constexpr (!has_fractions(element_of<typename Sorted::value_type>)) {
      using comparison = std::conditional_t<is_left, functions::less, functions::less_equal>;
      return counted(elementwise<comparison>(element(), value()), sorted);
    } else if constexpr (is_left) {
      const auto reaches = [&] {
        return elementwise<functions::greater_equal>(element(), value());
      };
      return counted(logical_and(logical_not(reaches()), equal(element(), element())), sorted);
    } else {
      return counted(logical_or(elementwise<functions::less_equal>(element(), value()),
                                not_equal(value(), value())),
                     sorted);
    }
  }

 private:
  template <class Truth, class Sorted>
  [[nodiscard]] static constexpr auto counted(Truth&& is_before, const Sorted& sorted) {
    return apply_by_extents<reduction_operation, &of::counting>(
        cast<std::int64_t>(std::forward<Truth>(is_before)), sorted);
  }
  /// Returns the tensor with dimensions of size 1, if there are any to insert.
  template <auto Of, class X, class Beside>
  [[nodiscard]] static constexpr auto apart(const X& x, const Beside& beside) {
    if constexpr (ValueOperand<X> || ValueOperand<Beside>) {
      using domain = typename value_domain_of<X, Beside>::type;
      using made = typename domain::template tensor<typename X::value_type>;
      if (Of(x.extents(), beside.extents()).integers.empty()) return made(x);
      return made(apply_by_extents<unsqueeze_operation, Of>(x, beside));
    } else if constexpr (Of(X::extents_type::value, Beside::extents_type::value).integers.empty()) {
      return X(x);
    } else {
      return apply_by_extents<unsqueeze_operation, Of>(x, beside);
    }
  }
};
template <search_side Side, class Permitted>
using searchsorted_call = gathered_call<searchsorted_of, Permitted, searchsorted_steps<Side>>;

}  // namespace detail

/// Returns the index at which each value would be inserted into a sorted sequence: the number of
/// its elements that are less, or with `search_side::right` not greater. Every value is compared
/// with every element, in one pass. If the sorted sequence is split, each device counts among its
/// own elements, and the result is a pending sum. NaNs are the largest, as in a sort: they are at
/// the end of the sorted sequence, and a value that is NaN is inserted before or behind those.
///
/// A sorted vector is searched for values of any rank. If its rank is higher, its last dimension is
/// sorted, and the dimensions before it are a batch, which broadcasts with that of the values.
///
///     auto bucket = searchsorted(bounds, values);    // f32[9], f32[512@data] -> i64[512@data]
///     auto places = searchsorted(rows, values);      // f32[4, 9], f32[4, 6] -> i64[4, 6]
template <search_side Side = search_side::left, NamedOperand Sorted, NamedOperand Values,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::searchsorted_call<Side, internal::permitted_by<Given>>, Given, const Sorted&,
    const Values&>
searchsorted(const Sorted& sorted, const Values& values, const Given& given = {}) {
  return internal::carry_out_on<detail::searchsorted_call<Side, internal::permitted_by<Given>>>(
      given, sorted, values);
}

/// Error: the values are a tensor. How many elements are less than a number is a sum.
template <search_side Side = search_side::left, NamedOperand Sorted, Scalar Value>
constexpr auto searchsorted(const Sorted&, Value)
    -> broken_rule<misuse::operand_is_not_a_tensor, of_types<Value>, operand_at{1},
                   suggested(fixed_string("sum<0>(cast<int>(sorted < 3.5))"))> {
  return {};
}

}  // namespace shardwise
