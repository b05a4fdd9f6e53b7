// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/philox.hpp"
#include "shardwise/operation/bitwise.hpp"

#include <cstdint>
#include <utility>

namespace shardwise {

namespace functions {

/// Keys of random numbers that are elements. They are derived as `random_key` derives them.
template <fixed_string Symbol>
struct key_function : elementwise_function<Symbol, linearity::nonlinear, 80> {
  static constexpr bool of_integers = true;
  static constexpr bool on_elements = true;
};
struct fold_in : key_function<"fold_in"> {};
struct split_key : key_function<"split_key"> {};

}  // namespace functions

/// New keys of random numbers for items `n`, such as steps or layers: what `random_key::fold_in`
/// gives, of keys that are elements. Keys have 64 bits; of shorter integers, whose signs extend,
/// the lowest bits of the new key are the result.
///
///     auto of_rows = fold_in(keys, rows);
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::fold_in, A, B, Given...> fold_in(
    A&& key, B&& n, const Given&... given) {
  return elementwise<functions::fold_in>(std::forward<A>(key), std::forward<B>(n), given...);
}
/// The `n`-th of the keys that a key splits into, as `random_key::split` gives it.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::split_key, A, B, Given...> split_key(
    A&& key, B&& n, const Given&... given) {
  return elementwise<functions::split_key>(std::forward<A>(key), std::forward<B>(n), given...);
}

namespace internal {

/// What a `random_key` is inside a step whose argument it is: an input of the program, a number of
/// 64 bits, of which keys are derived in the same way.
template <class Number>
struct traced_key {
  Number value;

  [[nodiscard]] traced_key fold_in(std::int64_t n) const {
    return {Number(shardwise::fold_in(value, n))};
  }
  [[nodiscard]] traced_key split(std::int64_t n) const {
    return {Number(shardwise::split_key(value, n))};
  }
};

}  // namespace internal

}  // namespace shardwise
