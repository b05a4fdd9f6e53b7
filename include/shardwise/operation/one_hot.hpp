// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/misplaced_options.hpp"

namespace shardwise {

/// The operation that replaces each index by a row of zeros with a single 1. Its integers are the
/// length of a row and the element type.
struct one_hot_operation {
  static constexpr text_view name = "one_hot";

  [[nodiscard]] static constexpr attributes how(index_t classes, element type) noexcept {
    return integer_attributes(classes, static_cast<int>(type));
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::nonlinear, rank);
    out.factors.push_back(factor_kind::pass_through);
    out.result.push_back(static_cast<std::uint8_t>(rank));
    out.sizes = out.given_sizes();
    out.sizes[rank] = how.integers[0];
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank() + 1;
    if (rank > max_rank)
      return {.rule = violation::rank_is_too_high, .have = rank, .want = max_rank};
    if (how.integers[0] < 0)
      return {.rule = violation::extent_is_negative, .have = how.integers[0]};
    return {};
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_indices(operands, 0, 1);
  }
  [[nodiscard]] static constexpr element result_type(const attributes& how,
                                                     const tensor_descs&) noexcept {
    return static_cast<element>(how.integers[1]);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, integer_attributes(how.integers[0]));
  }
};

/// The operation whose attributes are types.
template <index_t Classes, Element T>
struct one_hot_of {
  using operation_class = one_hot_operation;
  static constexpr attributes how = one_hot_operation::how(Classes, element_of<T>);
};

/// Returns a row of `Classes` elements for each index: 1 at the index and 0 elsewhere, or all 0 if
/// the index is out of range, as in JAX. The new dimension is the last one, which is not split; the
/// others keep their splits.
///
///     auto y = one_hot<10>(labels);          // i32[64@data] -> f32[64@data, 10]
///     auto z = one_hot<10>(labels, as<P<"data", "model">>);
template <index_t Classes, Element T = float, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto one_hot(X&& ids, const Given& given = {})
    -> decltype(apply_operation<one_hot_of<Classes, T>>(given, static_cast<X&&>(ids))) {
  return apply_operation<one_hot_of<Classes, T>>(given, static_cast<X&&>(ids));
}

/// Error: the number of classes is a template argument.
template <Operand X, class... Rest>
detail::options_misplaced<"one_hot<10>(ids)", X> one_hot(const X&, const Rest&...) {
  return {};
}

}  // namespace shardwise
