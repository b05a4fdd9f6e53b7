// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/operation/arithmetic.hpp"

#include <cstdint>

namespace shardwise {

/// What a chain is made of: values that it begins with (`first`), and exact functions of the value
/// so far alone, or of it and an operand. The value so far is the first of the two, or the second
/// in `subtract_from` and `divide_into`. `keep` stores the value so far where further links read
/// it.
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

/// The link that a function is where the value so far is its first operand; `first` for functions
/// that no chain has.
template <class Function>
inline constexpr chain_link link_of = chain_link::first;
template <>
inline constexpr chain_link link_of<functions::add> = chain_link::add;
template <>
inline constexpr chain_link link_of<functions::subtract> = chain_link::subtract;
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

/// The same function where the value so far is its second operand. The others are symmetric.
[[nodiscard]] constexpr chain_link reversed(chain_link link) noexcept {
  if (link == chain_link::subtract) return chain_link::subtract_from;
  if (link == chain_link::divide) return chain_link::divide_into;
  return link;
}

/// A link of a chain as it runs. `move` is 1 for neighbours of `at`, and 0 for one piece
/// (`detail::chain_piece`): a number, a value that is kept for this chain alone, or no operand.
struct running_link {
  chain_link what = chain_link::first;
  void* at = nullptr;
  index_t move = 0;
};
/// Computes `n` neighbours of `out` by a chain, which begins with `chain_link::first`. `out` may be
/// one of the operands; what is kept is apart from all, and has room for a piece. `links` is the
/// first of the `running_link`s: see `kernel_pointer` for why it is passed without its type.
using chain_function = void (*)(const void* links, int count, void* out, index_t n);

/// The most links of a chain.
inline constexpr int most_chain_links = 32;

}  // namespace shardwise
