// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// The operation that removes dimensions of size 1, which are its integers.
struct squeeze_operation : of_reordered_elements {
  static constexpr text_view name = "squeeze";
  static constexpr dims_among names{};
  static constexpr bool keeps_elements = true;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::structural, operands[0].rank());
    const unsigned left_out = over(how.integers).bits();
    out.result.clear();
    for (int d = 0; d < operands[0].rank(); ++d)
      if ((left_out >> d & 1U) == 0) out.result.push_back(static_cast<std::uint8_t>(d));
    out.sizes = out.given_sizes();
    for (int d = 0; d < operands[0].rank(); ++d)
      if ((left_out >> d & 1U) != 0) out.sizes[d] = 1;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  static constexpr void gradient(gradient_step& at) { reshape_operation::gradient(at); }
};

/// The operation that inserts dimensions of size 1; its integers are their positions in the result.
struct unsqueeze_operation : of_reordered_elements {
  static constexpr text_view name = "unsqueeze";
  static constexpr dims_among names{.of_result = true};
  static constexpr bool keeps_elements = true;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::structural, operands[0].rank());
    const unsigned added = over(how.integers).bits();
    out.result.clear();
    std::uint8_t next = 0;
    for (int d = 0; next < operands[0].rank() || added >> d != 0; ++d)
      out.result.push_back((added >> d & 1U) != 0 ? repeated : next++);
    return out;
  }
  /// Checks that the result has these dimensions, and that its rank is not too high.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank() + how.integers.ssize();
    if (rank > max_rank)
      return {.rule = violation::rank_is_too_high, .have = rank, .want = max_rank};
    return over(how.integers).judge(rank);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  static constexpr void gradient(gradient_step& at) { reshape_operation::gradient(at); }
};

/// The two operations whose attributes are types.
template <int... Dims>
struct squeeze_of {
  using operation_class = squeeze_operation;
  static constexpr attributes how = integer_attributes(Dims...);
};
template <int... Dims>
struct unsqueeze_of {
  using operation_class = unsqueeze_operation;
  static constexpr attributes how = integer_attributes(Dims...);
};

/// Returns the tensor without the given dimensions, which must have size 1. Pending reductions stay
/// pending.
///
///     auto row = squeeze<0>(x);              // f32[1, 8@data] -> f32[8@data]
template <int... Dims, NamedOperand X>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr auto squeeze(X&& x)
    -> decltype(apply_operation<squeeze_of<Dims...>>(static_cast<X&&>(x))) {
  return apply_operation<squeeze_of<Dims...>>(static_cast<X&&>(x));
}
/// Squeezes and reshards the result to the requested layout.
template <int... Dims, NamedOperand X, internal::Terms Given>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr auto squeeze(X&& x, const Given& wanted)
    -> decltype(apply_operation<squeeze_of<Dims...>>(wanted, static_cast<X&&>(x))) {
  return apply_operation<squeeze_of<Dims...>>(wanted, static_cast<X&&>(x));
}

/// Returns the tensor with dimensions of size 1 inserted at the given positions of the result;
/// `expand_dims` in NumPy. Pending reductions stay pending.
///
///     auto column = unsqueeze<1>(x);         // f32[8@data] -> f32[8@data, 1]
template <int... Dims, NamedOperand X>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr auto unsqueeze(X&& x)
    -> decltype(apply_operation<unsqueeze_of<Dims...>>(static_cast<X&&>(x))) {
  return apply_operation<unsqueeze_of<Dims...>>(static_cast<X&&>(x));
}
/// Unsqueezes and reshards the result to the requested layout.
template <int... Dims, NamedOperand X, internal::Terms Given>
  requires(sizeof...(Dims) > 0 && sizeof...(Dims) <= max_rank)
[[nodiscard]] constexpr auto unsqueeze(X&& x, const Given& wanted)
    -> decltype(apply_operation<unsqueeze_of<Dims...>>(wanted, static_cast<X&&>(x))) {
  return apply_operation<unsqueeze_of<Dims...>>(wanted, static_cast<X&&>(x));
}

}  // namespace shardwise
