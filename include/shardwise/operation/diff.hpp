// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/slice.hpp"

#include <cstdint>

namespace shardwise {

namespace detail {

/// The judge of `diff`: each element of the result reads two neighbours. Its integer is the
/// dimension.
struct neighbours_judge : of_any_elements {
  static constexpr text_view name = "diff";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<std::uint8_t>(how.integers[0]);
    factor_rule out = same_dimensions_rule(linearity::additive, operands[0].rank());
    const auto made = static_cast<std::uint8_t>(out.factors.ssize());
    out.factors[dim] = factor_kind::blocked;
    out.factors.push_back(factor_kind::pass_through);
    out.sizes = out.given_sizes();
    out.windows.push_back({dim, made, {.span = 2}, true});
    out.result[dim] = made;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
};
template <int Dim>
struct neighbours_of {
  using operation_class = neighbours_judge;
  static constexpr attributes how = integer_attributes(Dim);
};

}  // namespace detail

/// Returns the differences of neighbours along a dimension, which has one element less. Pending
/// sums stay pending.
///
/// The dimension must not be split, or devices communicate over permitted axes: they exchange a
/// halo if the axes divide the size of the result or the layout is `uneven`, and gather the
/// dimension otherwise.
///
///     auto steps = diff<1>(x);                  // 1 4 9 16 becomes 3 5 7
///     auto slopes = diff<0>(u, across<"rows">);
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto diff(const X& x, const Given& given = {}) {
  using permitted = internal::permitted_by<Given>;
  const auto& read = internal::fetching_call<detail::neighbours_of<Dim>, permitted>::gathered(x);
  auto upper = slice_in_dim<Dim, 1, open_end>(read, permitted{});
  if constexpr (AnyRefused<decltype(upper)>)
    return refused_value{};
  else
    return subtract(static_cast<decltype(upper)&&>(upper), slice_in_dim<Dim, 0, -1>(read), given);
}

}  // namespace shardwise
