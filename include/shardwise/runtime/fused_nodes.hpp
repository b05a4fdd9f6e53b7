// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#if defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/tree_description.hpp"
#else
#include "shardwise/runtime/pass_node.hpp"
#endif

#include <array>
#include <cstddef>
#include <span>

namespace shardwise::detail {

/// A pending fused pass over `N` tensors of `T`: compiled as a whole, or where the program links
/// the compiled library run through its functions, with the same bits.
template <class T, class Tree, std::size_t N>
[[nodiscard]] node_ptr make_pass(std::array<node_ptr, N>& operands, const tensor_desc& result,
                                 std::uint64_t sequence, const Tree& tree) {
#if defined(SHARDWISE_COMPILED)
  return make_described_pass(operands, result, element_kernels_of<T>, sequence,
                             tree_description::of<T>(tree, int{N}), index_t{Tree::flops});
#else
  return make_pending<pass_node<T, Tree, N>>(operands, result, element_kernels_of<T>, sequence,
                                             tree);
#endif
}

/// A pending fold whose prologue is such a pass, which makes what `folded` describes.
template <class T, class Tree, std::size_t N>
[[nodiscard]] node_ptr make_fold(std::array<node_ptr, N>& operands, const tensor_desc& result,
                                 const attributes& how, const operation_cost& cost,
                                 const Tree& tree, const tensor_desc& folded) {
#if defined(SHARDWISE_COMPILED)
  return make_described_fold(
      operands, result, element_kernels_of<T>, how, cost, tree_description::of<T>(tree, int{N}),
      whole_for<fold_operation, T>(std::array{element_of<T>}, element_of<T>).whole, folded);
#else
  return make_pending<fold_node<T, Tree, N>>(operands, result, element_kernels_of<T>, how, cost,
                                             tree, folded);
#endif
}

}  // namespace shardwise::detail
