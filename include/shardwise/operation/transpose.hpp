// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// The operation that permutes dimensions: its integers are, for each dimension of the result, that
/// of the operand.
struct transpose_operation : of_reordered_elements {
  static constexpr text_view name = "transpose";
  static constexpr dims_among names{};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::structural, operands[0].rank());
    out.result.clear();
    for (index_t d : how.integers) out.result.push_back(static_cast<std::uint8_t>(d));
    return out;
  }
  /// Checks that the operand has every dimension, and that each is listed once.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    if (how.integers.ssize() == rank) {
      const diagnosis known = over(how.integers).judge(rank);
      if (known.rule == violation::dimension_is_out_of_range) return known;
    }
    unsigned seen = 0;
    for (index_t d : how.integers)
      if (d >= 0 && d < rank) seen |= 1U << d;
    if (how.integers.ssize() == rank && seen == (1U << rank) - 1U) return {};
    diagnosis verdict{.rule = violation::dimensions_are_no_permutation};
    if (how.integers.ssize() == rank) {
      for (verdict.dim = 0; (seen >> verdict.dim & 1U) != 0;) ++verdict.dim;
    } else {
      verdict.have = how.integers.ssize();
      verdict.want = rank;
    }
    return verdict;
  }
  [[nodiscard]] static constexpr bool keeps_rows(const attributes& how) noexcept {
    return how.integers.empty() || how.integers.back() == how.integers.ssize() - 1;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  [[nodiscard]] static constexpr batched_form batched(const attributes& how, const tensor_descs&,
                                                      unsigned, index_t) noexcept {
    batched_form out{how};
    out.how.integers = {0};
    for (index_t d : how.integers) out.how.integers.push_back(d + 1);
    return out;
  }
  static constexpr void gradient(gradient_step& at) {
    attributes back = at.how();
    for (int d = 0; d < back.integers.ssize(); ++d) back.integers[at.how().integers[d]] = d;
    at.give(0, emit<transpose_operation>(back, at.cotangent()));
  }
};

/// A transpose whose attributes are types: dimension `i` of the result is dimension `Dims[i]` of
/// the operand.
template <int... Dims>
struct transpose_of {
  using operation_class = transpose_operation;
  static constexpr attributes how = integer_attributes(Dims...);
};

/// Returns the elements with the dimensions permuted: dimension `i` of the result is dimension
/// `Dims[i]` of `x` and keeps its split. Nothing is communicated, and pending reductions stay
/// pending.
///
///     auto y = transpose<1, 0>(x);           // f32[8@data, 4] -> f32[4, 8@data]
template <int... Dims, NamedOperand X>
[[nodiscard]] constexpr auto transpose(X&& x)
    -> decltype(apply_operation<transpose_of<Dims...>>(static_cast<X&&>(x))) {
  return apply_operation<transpose_of<Dims...>>(static_cast<X&&>(x));
}
/// Transposes and reshards the result to the requested layout.
template <int... Dims, NamedOperand X, internal::Terms Given>
[[nodiscard]] constexpr auto transpose(X&& x, const Given& wanted)
    -> decltype(apply_operation<transpose_of<Dims...>>(wanted, static_cast<X&&>(x))) {
  return apply_operation<transpose_of<Dims...>>(wanted, static_cast<X&&>(x));
}

}  // namespace shardwise
