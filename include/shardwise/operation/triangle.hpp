// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// The common part of operations that keep a triangle of the last two dimensions and set all other
/// elements to 0; their integer is the diagonal. No element is moved, so every dimension may be
/// split.
template <fixed_string Name, bool Upper>
struct triangle_operation {
  static constexpr text_view name = Name;
  /// Returns whether an element is kept, given its position in the last two dimensions.
  [[nodiscard]] static constexpr bool keeps(index_t row, index_t column,
                                            index_t diagonal) noexcept {
    return Upper ? column - row >= diagonal : column - row <= diagonal;
  }

  [[nodiscard]] static constexpr attributes how(index_t diagonal) noexcept {
    return integer_attributes(diagonal);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    return same_dimensions_rule(linearity::additive, operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    if (rank >= 2) return {};
    return {.rule = violation::operand_rank_differs, .operand = 0, .have = rank, .want = 2};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
};
struct tril_operation : triangle_operation<"tril", false> {
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<tril_operation>(at.how(), at.cotangent()));
  }
};
struct triu_operation : triangle_operation<"triu", true> {
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<triu_operation>(at.how(), at.cotangent()));
  }
};

/// The operations whose attributes are types.
template <index_t Diagonal>
struct tril_of {
  using operation_class = tril_operation;
  static constexpr attributes how = tril_operation::how(Diagonal);
};
template <index_t Diagonal>
struct triu_of {
  using operation_class = triu_operation;
  static constexpr attributes how = triu_operation::how(Diagonal);
};

/// Returns the lower triangle of the last two dimensions, with 0 above a diagonal: the main one, or
/// the one `Diagonal` above it. Every layout is accepted; pending sums stay pending.
///
///     auto l = tril(x);                      // f32[8@data, 8]
///     auto below = tril<-1>(x);              // without the diagonal
template <index_t Diagonal = 0, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto tril(X&& x, const Given& given = {})
    -> decltype(apply_operation<tril_of<Diagonal>>(given, static_cast<X&&>(x))) {
  return apply_operation<tril_of<Diagonal>>(given, static_cast<X&&>(x));
}
/// Returns the upper triangle of the last two dimensions, with 0 below a diagonal.
template <index_t Diagonal = 0, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto triu(X&& x, const Given& given = {})
    -> decltype(apply_operation<triu_of<Diagonal>>(given, static_cast<X&&>(x))) {
  return apply_operation<triu_of<Diagonal>>(given, static_cast<X&&>(x));
}

}  // namespace shardwise
