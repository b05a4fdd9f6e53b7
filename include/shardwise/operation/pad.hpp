// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/number.hpp"

namespace shardwise {

/// What a tensor is padded with: a number, its elements at the edge, or those within, mirrored at
/// the edge, which itself is not repeated.
enum class pad_mode : std::uint8_t { constant, edge, reflect };

/// The operation that adds elements before and behind those of a tensor. Its integers are how many
/// before and behind, dimension by dimension; its number is the mode. A second operand, of rank 0,
/// is the number to add, which is 0 if there is none.
struct pad_operation {
  static constexpr text_view name = "pad";

  [[nodiscard]] static constexpr pad_mode mode(const attributes& how) noexcept {
    return static_cast<pad_mode>(static_cast<int>(how.number));
  }
  /// A dimension to which anything is added is needed whole. Zeros may be added to terms of a sum,
  /// and elements of a tensor to whatever is pending in it.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const linearity law = operands.size() > 1               ? linearity::nonlinear
                          : mode(how) == pad_mode::constant ? linearity::additive
                                                            : linearity::structural;
    factor_rule out = same_dimensions_rule(law, rank);
    for (int d = 0; d < rank; ++d) {
      const index_t added = how.integers[2 * d] + how.integers[2 * d + 1];
      if (added == 0) continue;
      out.factors[d] = factor_kind::need_replication;
      const auto padding = static_cast<std::uint8_t>(out.factors.ssize());
      const auto whole = static_cast<std::uint8_t>(padding + 1);
      out.factors.push_back(factor_kind::pass_through);
      out.factors.push_back(factor_kind::pass_through);
      out.sizes = out.given_sizes();
      out.sizes[padding] = added;
      out.composites.push_back({whole, composition::sum, {static_cast<std::uint8_t>(d), padding}});
      out.result[d] = whole;
    }
    if (operands.size() > 1) out.operands.push_back({});
    return out;
  }
  /// Judges that there are two numbers for each dimension, none of them negative, and elements to
  /// repeat.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    if (how.integers.ssize() != 2 * rank)
      return {.rule = broken::operand_rank_differs,
              .operand = 0,
              .have = rank,
              .want = how.integers.ssize() / 2};
    int factors = rank;
    for (int d = 0; d < rank; ++d) {
      const index_t before = how.integers[2 * d], behind = how.integers[2 * d + 1];
      if (before < 0 || behind < 0)
        return {.rule = broken::extent_is_negative, .dim = d, .have = before < 0 ? before : behind};
      if (before + behind == 0) continue;
      factors += 2;
      if (mode(how) != pad_mode::constant && operands[0].extents[d] == 0)
        return {.rule = broken::slice_is_out_of_range, .operand = 0, .dim = d};
    }
    if (factors > max_factors)
      return {.rule = broken::rank_is_too_high, .have = factors, .want = max_factors};
    return {};
  }
  /// Numbers, and truth values where nothing else than elements of the tensor is added.
  [[nodiscard]] static constexpr element_verdict check_elements(
      const attributes&, const tensor_descs& operands) noexcept {
    return check_alike(operands, 0, true);
  }
  [[nodiscard]] static constexpr text<47> label(const attributes& how) noexcept {
    constexpr text_view words[] = {"pad", "pad_edge", "pad_reflect"};
    return words_of(words[static_cast<int>(mode(how))], how);
  }
};

/// The same as types have it.
template <pad_mode Mode, index_t... Amounts>
struct pad_of {
  using operation_class = pad_operation;
  static constexpr attributes how = [] {
    attributes out = integer_attributes(Amounts...);
    out.number = static_cast<int>(Mode);
    return out;
  }();
};

/// A larger tensor around this one: `Amounts` says for each dimension how many elements are added
/// before and how many behind. Each device needs the whole of a dimension that grows, or fetches it
/// over permitted axes; all others may be split.
///
/// Zeros are added, so that terms of a pending sum stay such. `pad<pad_mode::edge, ...>` repeats
/// the elements at the edge and `pad_mode::reflect` mirrors those within, several times if need be.
///
///     auto y = pad<0, 0, 1, 2>(x);           // f32[8@data, 4] -> f32[8@data, 7]: 0 a b c d 0 0
template <index_t... Amounts, NamedOperand X, fixed_string... Axes>
  requires(sizeof...(Amounts) <= 2 * max_rank)
[[nodiscard]] constexpr auto pad(X&& x, across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<pad_of<pad_mode::constant, Amounts...>>(permitted,
                                                                        static_cast<X&&>(x))) {
  return apply_operation<pad_of<pad_mode::constant, Amounts...>>(permitted, static_cast<X&&>(x));
}
template <pad_mode Mode, index_t... Amounts, NamedOperand X, fixed_string... Axes>
  requires(sizeof...(Amounts) <= 2 * max_rank)
[[nodiscard]] constexpr auto pad(X&& x, across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<pad_of<Mode, Amounts...>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<pad_of<Mode, Amounts...>>(permitted, static_cast<X&&>(x));
}
/// The same with another number than 0, or with a tensor of rank 0; no operand may be pending.
///
///     auto y = pad<1, 1>(x, -1.0F);          // -1 a b c -1
template <index_t... Amounts, NamedOperand X, class Value, fixed_string... Axes>
  requires(sizeof...(Amounts) <= 2 * max_rank && (Scalar<Value> || NamedOperand<Value>))
[[nodiscard]] constexpr detail::outcome_of<
    detail::numbers_call<pad_of<pad_mode::constant, Amounts...>, across_axes<Axes...>, void>, X,
    Value>
pad(X&& x, Value&& value, across_axes<Axes...> = {}) {
  return detail::carry_out<
      detail::numbers_call<pad_of<pad_mode::constant, Amounts...>, across_axes<Axes...>, void>>(
      static_cast<X&&>(x), static_cast<Value&&>(value));
}

}  // namespace shardwise
