// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/matrices.hpp"
#include "shardwise/operation/products.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/transcendental.hpp"

#include <concepts>
#include <type_traits>

namespace shardwise {

/// The covariances of rows on abstract tensors. They are computed as a composition of other
/// operations.
struct cov_operation : detail::of_matrices {
  static constexpr text_view name = "cov";

  /// The result has two dimensions with the rows; the rule knows the first one as that of the
  /// operand.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = of_matrices::rule(how, operands);
    out.factors.push_back(factor_kind::need_replication);
    out.sizes = out.given_sizes();
    out.sizes[rank] = operands[0].extents[rank - 2];
    out.result[rank - 1] = static_cast<std::uint8_t>(rank);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    return check_rank(operands[0]);
  }
  /// Returns the rule of matrices whose rows, but not their columns, each device needs whole.
  [[nodiscard]] static constexpr factor_rule rule_of_rows(const tensor_desc& x) noexcept {
    factor_rule out = same_dimensions_rule(linearity::nonlinear, x.rank());
    out.factors[x.rank() - 2] = factor_kind::need_replication;
    return out;
  }
  /// Returns the positions of dimensions of size 1 beside variances, which are those of rows or of
  /// columns.
  [[nodiscard]] static constexpr attributes beside_rows(const extents_desc& variances) noexcept {
    return integer_attributes(variances.ssize());
  }
  [[nodiscard]] static constexpr attributes beside_columns(const extents_desc& variances) noexcept {
    return integer_attributes(variances.ssize() - 1);
  }
};

/// The operations as types.
struct cov_of : without_attributes<cov_operation> {};
struct corrcoef_of : without_attributes<cov_operation> {};

namespace detail {

/// The rows of matrices, which each device needs whole.
struct whole_rows_operation {
  static constexpr text_view name = "whole_rows";
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    return cov_operation::rule_of_rows(operands[0]);
  }
};
struct whole_rows_of : without_attributes<whole_rows_operation> {};

/// Returns the means along the last dimension, which is kept with size 1.
template <class X>
[[nodiscard]] constexpr auto mean_of_columns(const X& x) {
  if constexpr (ValueOperand<X>)
    return mean(x, over(x.extents().ssize() - 1), keep_dims);
  else
    return mean<X::extents_type::rank - 1>(x, keep_dims);
}
/// Returns the sums of products of the differences of rows from their means, pending over the axes
/// that split the columns.
template <class Permitted, class X>
[[nodiscard]] constexpr auto centred_products(const X& given) {
  const auto x = widened(fetching_call<whole_rows_of, Permitted>::gathered(given));
  const auto centred = x - finished(mean_of_columns(x), Permitted{});
  return einsum<"...ik,...jk->...ij">(centred, centred);
}

template <class Permitted>
struct cov_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& x, const correction& less) {
    using T = typename X::value_type;
    const extents_desc& extents = x.extents();
    const index_t observations = extents[extents.ssize() - 1];
    const auto made = centred_products<Permitted>(x) /
                      divisor_of_sum<compute_type<T>>(terms_less(observations, less), observations);
    if constexpr (std::is_same_v<compute_type<T>, T>)
      return made;
    else
      return narrowed<T>(finished(made, Permitted{}));
  }
};
template <class Permitted>
struct corrcoef_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& x) {
    const auto products = finished(centred_products<Permitted>(x), Permitted{});
    const auto roots = sqrt(diagonal(products));
    return narrowed<typename X::value_type>(
        clamp(products / apply_by_extents<unsqueeze_operation, &cov_operation::beside_rows>(roots) /
                  apply_by_extents<unsqueeze_operation, &cov_operation::beside_columns>(roots),
              -1, 1));
  }
};
template <class Permitted>
using cov_call = composed_call<cov_of, Permitted, cov_steps<Permitted>>;
template <class Permitted>
using corrcoef_call = composed_call<corrcoef_of, Permitted, corrcoef_steps<Permitted>>;

template <class Option>
concept CovarianceOption = Terms<Option> || std::same_as<Option, correction>;

}  // namespace detail

/// Returns the covariances of the rows of matrices, the last two dimensions: rows are variables,
/// and columns are their observations. The sums of products of the differences from the means,
/// computed in two passes, are divided by the number of observations minus 1, or minus the number
/// of `correction{0}`. The dimensions before are a batch and may be split.
///
///     auto c = cov(x);                               // f32[8@data, 4, 100] -> f32[8@data, 4, 4]
///
/// If observations are split, `across` names the axes over which the means are reduced, one number
/// for each variable; the result is a pending sum, as that of `variance` is, or finished for
/// `bfloat16` and `float16`. It is exact for uneven shards. Variables that are split over permitted
/// axes are gathered.
///
///     auto c = cov(x, across<"data">);               // f32[4, 100@data]
template <NamedOperand X, detail::CovarianceOption... Options>
[[nodiscard]] constexpr auto cov(const X& x, const Options&... options) {
  if constexpr (internal::ends_with_result_as<Options...>()) {
    return internal::on_request([&](const auto&... given) { return cov(x, given...); }, options...);
  } else {
    constexpr auto permitted = decltype(internal::permitted_among(options...)){};
    constexpr bool has_correction = (... || std::same_as<Options, correction>);
    return internal::carry_out<detail::cov_call<std::remove_const_t<decltype(permitted)>>>(
        x, correction{has_correction ? internal::correction_among(options...) : 1});
  }
}
/// Returns the correlation coefficients of the rows of matrices: their covariances divided by the
/// roots of both variances, clamped to [-1, 1]. They are NaN for a row of equal elements. If
/// observations are split, means and products are reduced over permitted axes.
///
///     auto r = corrcoef(x, across<"data">);          // f32[4, 100@data] -> f32[4, 4]
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::corrcoef_call<internal::permitted_by<Given>>,
                                             Given, const X&>
corrcoef(const X& x, const Given& given = {}) {
  return internal::carry_out_on<detail::corrcoef_call<internal::permitted_by<Given>>>(given, x);
}

}  // namespace shardwise
