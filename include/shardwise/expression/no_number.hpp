// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operand.hpp"

#include <concepts>
#include <type_traits>

namespace shardwise {

/// The name in errors of a tensor that is converted to a number.
template <class Number>
struct converted_to;

/// A value that converts to `T`, as a tensor does only to cause an error.
template <class X, class T>
concept NumberFor = std::convertible_to<X, T> &&(!EitherOperand<X> || AnyRefused<X>);

namespace detail {

/// The calls to suggest where a tensor is converted to a number, or to `bool`. `IsOne` is true if
/// it may have the rank 0 and values to read.
template <class Number, bool IsOne>
[[nodiscard]] constexpr auto instead_of_number() noexcept {
  constexpr bool is_condition = std::is_same_v<Number, bool>;
  if constexpr (is_condition && IsOne)
    return suggested(fixed_string("to_host(x).value() or where(x, a, b)"));
  else if constexpr (is_condition)
    return suggested(fixed_string("where(x, a, b) or maximum(a, b)"));
  else if constexpr (IsOne)
    return suggested(fixed_string("to_host(x).value() or exp(x)"));
  else
    return suggested(fixed_string("exp(x) for std::exp"));
}

}  // namespace detail

namespace internal {

template <class Number, bool IsOne>
using broken_number = broken_rule<misuse::tensor_is_not_a_number, converted_to<Number>,
                                  instead_of_number<Number, IsOne>()>;
template <class T>
using number_like = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

}  // namespace internal

/// The base classes and template arguments of the types that programs use. It has no functions: the
/// namespaces of such classes are searched for each function that a program calls, and functions of
/// the library would replace its own.
namespace type_parts {

/// Base of tensors with elements of type `T`, which are not numbers: what needs a number, such as
/// `std::exp`, `float v = x` or `if (x > 0)`, selects this conversion, and its body is the error.
///
/// The conversion is no template, so that one of the overloads of `std::exp` is the best. It
/// returns a number so that the surrounding expression causes no further errors.
template <class T, class Extents>
struct no_number {
  /// Not constexpr: compilers instantiate constexpr functions even where a class, such as
  /// `std::variant`, only asks whether a number can be initialised.
  operator internal::number_like<T>() const noexcept {
    using wrong [[maybe_unused]] =
        decltype(internal::broken_number<internal::number_like<T>, Extents::rank == 0>{});
    return {};
  }
};

}  // namespace type_parts

}  // namespace shardwise
