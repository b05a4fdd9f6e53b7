// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/whole.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// What the operations share that keep a triangle of the last two dimensions and write 0 elsewhere:
/// their integer is the diagonal. Elements stay where they are, so every dimension may be split.
template <fixed_string Name, bool Upper>
struct triangle {
  static constexpr text_view name = Name;
  /// Whether an element is kept, by its place in the last two dimensions.
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
struct tril_operation : triangle<"tril", false> {
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<tril_operation>(at.how(), at.cotangent()));
  }
};
struct triu_operation : triangle<"triu", true> {
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<triu_operation>(at.how(), at.cotangent()));
  }
};

/// The same as types have them.
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

/// The lower triangle of the last two dimensions, 0 above a diagonal: the main one, or so many
/// above it. Every layout passes; pending sums stay pending.
///
///     auto l = tril(x);                      // f32[8@data, 8]
///     auto below = tril<-1>(x);              // without the diagonal
template <index_t Diagonal = 0, NamedOperand X>
[[nodiscard]] constexpr auto tril(X&& x)
    -> decltype(apply_operation<tril_of<Diagonal>>(static_cast<X&&>(x))) {
  return apply_operation<tril_of<Diagonal>>(static_cast<X&&>(x));
}
/// The upper triangle of the last two dimensions, 0 below a diagonal.
template <index_t Diagonal = 0, NamedOperand X>
[[nodiscard]] constexpr auto triu(X&& x)
    -> decltype(apply_operation<triu_of<Diagonal>>(static_cast<X&&>(x))) {
  return apply_operation<triu_of<Diagonal>>(static_cast<X&&>(x));
}

}  // namespace shardwise
