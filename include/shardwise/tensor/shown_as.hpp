// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/layout/notation.hpp"
#include "shardwise/tensor/node.hpp"

namespace shardwise {

namespace detail {
template <class X>
struct shown_type {
  using type = X;
};
template <class X>
  requires(!Operand<X> && requires { type_name<X>(); })
struct shown_type<X> {
  static constexpr message_text words = type_name<X>();
  using type = as_written<to_fixed_string<words.size()>(words)>;
};
template <Operand X>
struct shown_type<X> {
  using type = as_written<notation_of<X>()>;
};
}  // namespace detail

/// The form of `X` in errors: in the library's notation if it has one, which is shorter than its
/// type.
template <class X>
using shown_as = typename detail::shown_type<X>::type;

namespace internal {

/// Checks that the argument of `Function` is a tensor in a pool.
template <fixed_string Function, class X>
[[nodiscard]] constexpr auto judge_reading() noexcept {
  if constexpr (AnyRefused<X>)
    return refused<>{};
  else if constexpr (Readable<X>)
    return allowed<X>{};
  else if constexpr (operand_kind_of<X> == operand_kind::refused_tensor)
    return tensor_type_judge<X>{};
  else
    return refused<misuse::operand_is_not_in_pool, shown_as<X>, called(Function)>{};
}
template <fixed_string Function, class X>
using reading = given<decltype(judge_reading<Function, X>())>;

}  // namespace internal

}  // namespace shardwise
