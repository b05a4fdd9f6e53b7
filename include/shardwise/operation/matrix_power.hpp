// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/matrices.hpp"
#include "shardwise/operation/products.hpp"
#include "shardwise/operation/solve.hpp"

#include <cstdint>

namespace shardwise {

/// The powers of square matrices on abstract tensors; the integer is the exponent. They are
/// computed as a composition of other operations.
struct matrix_power_operation : detail::of_square_matrices {
  static constexpr text_view name = "matrix_power";
  static constexpr bool has_fractions = true;

  /// Return the dimension of the rows and that of the columns, to number their indices.
  [[nodiscard]] static constexpr attributes numbering_rows(const extents_desc& x) noexcept {
    return iota_like_operation::how(x.ssize() - 2);
  }
  [[nodiscard]] static constexpr attributes numbering_columns(const extents_desc& x) noexcept {
    return iota_like_operation::how(x.ssize() - 1);
  }
};

namespace linalg {

/// The operation whose attributes are types.
template <int Exponent>
struct matrix_power_of {
  using operation_class = matrix_power_operation;
  static constexpr attributes how = integer_attributes(Exponent);
};

}  // namespace linalg

namespace detail {
template <int Exponent>
struct matrix_power_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& given) {
    const auto x = widened(given);
    using T = typename X::value_type;
    if constexpr (Exponent == 0)
      return narrowed<T>(identity_like(x));
    else if constexpr (Exponent < 0)
      return narrowed<T>(power_of<-Exponent>(linalg::inverse(x)));
    else
      return narrowed<T>(power_of<Exponent>(x));
  }

 private:
  template <class X>
  [[nodiscard]] static constexpr auto identity_like(const X& x) {
    using of = matrix_power_operation;
    return cast<typename X::value_type>(
        equal(apply_by_extents<iota_like_operation, &of::numbering_rows, std::int64_t>(x),
              apply_by_extents<iota_like_operation, &of::numbering_columns, std::int64_t>(x)));
  }
  /// Squares the power of half the exponent, and multiplies by the matrix if the exponent is odd.
  template <int Power, class X>
  [[nodiscard]] static constexpr auto power_of(const X& x) {
    if constexpr (AnyRefused<X>) {
      return refused_value{};
    } else if constexpr (Power == 1) {
      return X(x);
    } else {
      const auto half = power_of<Power / 2>(x);
      if constexpr (Power % 2 == 0)
        return matmul(half, half);
      else
        return matmul(matmul(half, half), x);
    }
  }
};
template <int Exponent, class Permitted>
using matrix_power_call =
    gathered_call<linalg::matrix_power_of<Exponent>, Permitted, matrix_power_steps<Exponent>>;
}  // namespace detail

namespace linalg {

/// Returns a power of square matrices, the last two dimensions, by repeated squares. The power 0 is
/// the identity, and a negative one is that of the inverses. The other dimensions may be split.
///
///     auto y = linalg::matrix_power<3>(x);             // f32[8@data, 4, 4]
template <int Exponent, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(Exponent > -1'000'000 && Exponent < 1'000'000)
[[nodiscard]] constexpr internal::outcome_on<
    detail::matrix_power_call<Exponent, internal::permitted_by<Given>>, Given, const X&>
matrix_power(const X& x, const Given& given = {}) {
  return internal::carry_out_on<detail::matrix_power_call<Exponent, internal::permitted_by<Given>>>(
      given, x);
}

}  // namespace linalg

}  // namespace shardwise
