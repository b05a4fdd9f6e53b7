// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/chain_link.hpp"

#include <cstddef>

namespace shardwise {

/// At least the longest step or piece of any type, whatever the registers that kernels are compiled
/// for: a number beside blocks fills what is read at once.
inline constexpr std::size_t most_in_step = 128;

/// One elementwise operation on `n` neighbours: operand `k` is neighbours too, or where `moves[k]`
/// is 0 one step (`detail::step`) that holds the same number throughout. Elements are of the types
/// that they are computed in. `out` may be one of the operands.
struct block_function {
  using pointer = void (*)(const void* const* operands, const index_t* moves, void* out, index_t n);

  pointer run = nullptr;
  /// What computes the function together with others, and the link that it is there; null where
  /// chains have no such function.
  chain_function chain = nullptr;
  chain_link link = chain_link::first;

  [[nodiscard]] friend constexpr bool operator==(const block_function&,
                                                 const block_function&) = default;
};

/// The block function of an elementwise function with these operands, in the types that they are
/// computed in. A function of single elements says so by `on_elements`, and its `kernel` has `of`;
/// one whose types differ in the way of comparisons or of `where` says it by its family.
template <class F, class Result, class... T>
[[nodiscard]] constexpr block_function block_function_of() noexcept;

}  // namespace shardwise
