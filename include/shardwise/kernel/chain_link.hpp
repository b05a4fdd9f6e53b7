// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/operation/arithmetic.hpp"

#include <cstdint>

namespace shardwise {

/// The links of a chain: initial values (`first`), and exact functions of the current value alone,
/// or of the current value and an operand. The current value is the first of the two, or the second
/// in `subtract_from` and `divide_into`. `keep` stores the current value for later links.
enum class chain_link : std::uint8_t {
  first,
  keep,
  add,
  subtract,
  subtract_from,
  multiply,
  divide,
  divide_into,
  maximum,
  minimum,
  negate,
  abs,
  square,
  relu
};

/// Returns the link of a function whose first operand is the current value; `first` for functions
/// that chains do not support.
template <class Function>
inline constexpr chain_link link_of = chain_link::first;
template <>
inline constexpr chain_link link_of<functions::add> = chain_link::add;
template <>
inline constexpr chain_link link_of<functions::subtract> = chain_link::subtract;
template <>
inline constexpr chain_link link_of<functions::subtract_constant> = chain_link::subtract;
template <>
inline constexpr chain_link link_of<functions::multiply> = chain_link::multiply;
template <>
inline constexpr chain_link link_of<functions::divide> = chain_link::divide;
template <>
inline constexpr chain_link link_of<functions::maximum> = chain_link::maximum;
template <>
inline constexpr chain_link link_of<functions::minimum> = chain_link::minimum;
template <>
inline constexpr chain_link link_of<functions::negate> = chain_link::negate;
template <>
inline constexpr chain_link link_of<functions::abs> = chain_link::abs;
template <>
inline constexpr chain_link link_of<functions::square> = chain_link::square;
template <>
inline constexpr chain_link link_of<functions::relu> = chain_link::relu;

/// Returns the link of the same function with the current value as the second operand. The other
/// functions are symmetric.
[[nodiscard]] constexpr chain_link reversed(chain_link link) noexcept {
  if (link == chain_link::subtract) return chain_link::subtract_from;
  if (link == chain_link::divide) return chain_link::divide_into;
  return link;
}

/// A link of a running chain. `move` is 1 for contiguous elements at `at`, and 0 for one piece
/// (`detail::chain_piece`): a number, a value that only this chain uses, or no operand.
struct running_link {
  chain_link what = chain_link::first;
  void* at = nullptr;
  index_t move = 0;
};
/// Computes `n` contiguous elements of `out` by a chain, which begins with `chain_link::first`.
/// `out` may be one of the operands; kept values must not overlap anything else, and have room for
/// a piece. `links` is the first of the `running_link`s: see `kernel_pointer` for why it is passed
/// without its type.
using chain_function = void (*)(const void* links, int count, void* out, index_t n);

/// The maximum number of links of a chain.
inline constexpr int most_chain_links = 32;

}  // namespace shardwise
