// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/whole.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reduce.hpp"

#include <concepts>
#include <utility>

namespace shardwise {

/// The operation that adds up squares over dimensions, a step of norms and variances. Its result
/// has elements in whose range the squares are, so that those of elements of either end of their
/// range neither overflow nor vanish. Its attributes are those of a sum.
struct sum_of_squares_operation {
  static constexpr text_view name = "sum_of_squares";
  static constexpr bool takes_prologue = true;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = reduction_operation::rule(how, operands);
    out.law = linearity::nonlinear;
    return out;
  }
  [[nodiscard]] static constexpr element result_type(const attributes&,
                                                     const tensor_descs& operands) noexcept {
    return squared_in(operands[0].type);
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike(operands, 0, false);
  }
  /// A product and a sum for each element of the operand.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = 2 * largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  [[nodiscard]] static constexpr batched_form batched(const attributes& how,
                                                      const tensor_descs& operands, unsigned mapped,
                                                      index_t size) noexcept {
    return reduction_operation::batched(how, operands, mapped, size);
  }
  /// The product with a cotangent is in range where the squares are.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value x = at.operand(0);
    const gradient_value dy = reduction_operation::kept(at, at.cotangent());
    at.give(0,
            converted(converted(x, dy.tensor().type) * (dy * at.number(2, dy)), x.tensor().type));
  }
};

/// The operation whose attributes are types, as those of `reduction_of` are.
template <unsigned Reduced, bool Keep>
struct sum_of_squares_of {
  using operation_class = sum_of_squares_operation;
  static constexpr attributes how = reduction_operation::how(reduction::sum, Reduced, Keep);
};

namespace internal {

/// Returns the sum of the squares of elements over the given dimensions, or over all, with the
/// options of `sum` and elements of `squares_type`. Those of narrow elements are not rounded
/// before.
template <int... Dims, class X, class... Options>
[[nodiscard]] constexpr auto sum_of_squares(X&& x, const Options&... options) {
  using tensor = std::remove_cvref_t<X>;
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else if constexpr (rounds_once<typename tensor::value_type>) {
    return sum_of_squares<Dims...>(widened(x), options...);
  } else {
    constexpr bool keep = (... || std::same_as<Options, keep_dims_t>);
    if constexpr (ValueOperand<X>) {
      const over dims = dims_of<Dims...>(x, options...);
      require(dims.judge(x.tensor().rank()));
      using S = squares_type<typename tensor::value_type>;
      return tensor::value_domain::template apply_with<sum_of_squares_operation, S>(
          reduction_operation::how(reduction::sum, dims.bits(), keep), static_cast<X&&>(x));
    } else {
      constexpr over dims = named_dims<Dims...>(tensor::extents_type::rank);
      return apply_operation<sum_of_squares_of<dims.bits(), keep>>(static_cast<X&&>(x));
    }
  }
}
/// Returns the mean of the squares; NaN if there are no elements.
template <int... Dims, class X, class... Options>
[[nodiscard]] constexpr auto mean_of_squares(X&& x, const Options&... options) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using S = squares_type<typename std::remove_cvref_t<X>::value_type>;
    const index_t count = dims_of<Dims...>(x, options...).count(x.extents());
    S terms = divisor_of_sum<S>(count, count);
    return sum_of_squares<Dims...>(static_cast<X&&>(x), options...) / std::move(terms);
  }
}

}  // namespace internal

}  // namespace shardwise
