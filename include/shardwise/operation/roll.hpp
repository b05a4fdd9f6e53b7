// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// The operation that moves elements cyclically along a dimension. Its integers are the dimension
/// and the number of positions.
struct roll_operation : of_any_elements {
  static constexpr text_view name = "roll";
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr attributes how(int dim, index_t places) noexcept {
    return integer_attributes(dim, places);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::structural, operands[0].rank());
    const index_t size = operands[0].extents[how.integers[0]], places = how.integers[1];
    if (places != 0 && (size <= 0 || places % size != 0))
      out.factors[how.integers[0]] = factor_kind::permutation;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  using emits = operations<roll_operation>;
  static constexpr void gradient(gradient_step& at) {
    const attributes& places = at.how();
    const auto dim = static_cast<int>(places.integers[0]);
    at.give(0, emit<roll_operation>(how(dim, -places.integers[1]), at.cotangent()));
  }
};

/// The operation whose attributes are types.
template <int Dim, index_t Places>
struct roll_of {
  using operation_class = roll_operation;
  static constexpr attributes how = roll_operation::how(Dim, Places);
};

/// Moves elements by `Places` positions along a dimension, backwards if it is negative; elements
/// beyond one end re-enter at the other. The dimension must not be split, or is gathered over
/// permitted axes. Pending reductions stay pending.
///
///     auto y = roll<1, 2>(x);                // 1 2 3 4 becomes 3 4 1 2
///     auto z = roll<0, 1>(x, across<"data">);
template <int Dim, index_t Places, NamedOperand X, detail::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto roll(X&& x, Given permitted = {})
    -> decltype(apply_operation<roll_of<Dim, Places>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<roll_of<Dim, Places>>(permitted, static_cast<X&&>(x));
}

}  // namespace shardwise
