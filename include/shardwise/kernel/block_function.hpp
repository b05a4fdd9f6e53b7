// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/chain_link.hpp"
#include "shardwise/layout/element.hpp"

#include <cstddef>
#include <optional>

namespace shardwise {

/// An upper bound of the elements in one step or piece, for every type and vector width: a
/// broadcast number fills as many.
inline constexpr std::size_t most_in_step = 128;

/// An elementwise operation on `n` contiguous elements. Operand `k` is contiguous too or, if
/// `moves[k]` is 0, one step (`detail::step`) filled with a single number. Elements have the types
/// used for arithmetic. `out` may be one of the operands.
struct block_function {
  using pointer = void (*)(const void* const* operands, const index_t* moves, void* out, index_t n);

  /// The same for `rows` rows of `n` elements. `apart[k]` is the number of elements from one row of
  /// operand `k` to the next; rows of the result follow one another. An operand whose move is -1 is
  /// read backwards. All types are fundamental, since the compiled library calls functions of
  /// kernel sets, in which the types of the library are others.
  using rows_pointer = void (*)(const void* const* operands, const index_t* moves, void* out,
                                index_t n, index_t rows, const index_t* apart);

  pointer run = nullptr;
  /// Computes the function together with others in a chain, and its link; null if chains do not
  /// support the function.
  chain_function chain = nullptr;
  chain_link link = chain_link::first;
  /// The elements whose numbers are those that the function rounds its operand to, which it does
  /// not change otherwise: storing the operand as such elements gives the same.
  std::optional<element> stored_as{};
  /// Null if rows are computed one by one.
  rows_pointer run_rows = nullptr;

  [[nodiscard]] friend constexpr bool operator==(const block_function&,
                                                 const block_function&) = default;
};

/// Returns the block function of an elementwise function with these operands, in the types used for
/// arithmetic. A function of single elements declares `on_elements`, and its `kernel` has `of`; a
/// function whose types differ, as for comparisons or `where`, declares its family.
template <class F, class Result, class... T>
[[nodiscard]] constexpr block_function block_function_of() noexcept;

}  // namespace shardwise
