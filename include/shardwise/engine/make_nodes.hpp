// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/compiled_loop.hpp"
#include "shardwise/engine/number_operand.hpp"
#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace shardwise {

namespace internal {

/// Returns a number that orders expressions and nodes as the program created them; named ones run
/// in this order, on paper and here.
[[nodiscard]] std::uint64_t next_sequence() noexcept;

/// Reports an error for an operand in another pool.
void require_one_pool(const std::shared_ptr<pool_state>& home, const node_ptr& operand);

/// Creates a pending elementwise function of tensors and numbers whose result is `result`.
[[nodiscard]] node_ptr make_each_node(std::span<node_ptr> operands, const tensor_desc& result,
                                      const element_kernels& elements, const operation& what,
                                      const operation_kernel& kernel,
                                      const number_operands& numbers);

/// Finds the kernel of an operation for the given types of operands and result.
using kernel_finder = operation_kernel (*)(std::span<const element> operands, element result);

/// Creates a pending operation that is not elementwise, on tensors in one pool; `split` is the
/// result of its rule for them.
[[nodiscard]] node_ptr make_whole_node(std::span<node_ptr> operands, const applied_operation& does,
                                       const factor_rule& rule, const propagation& split,
                                       const element_kernels& elements, kernel_finder find);

/// Creates a pending node of several operations that are compiled as one loop; `what` is the last.
[[nodiscard]] node_ptr make_loop_node(std::span<node_ptr> operands, const tensor_desc& result,
                                      const element_kernels& elements, const operation& what,
                                      call_details_ptr details, compiled_loop loop,
                                      std::uint64_t sequence = next_sequence());

/// Creates a tensor of rank 0 on a machine that holds a number.
[[nodiscard]] node_ptr number_node(const std::shared_ptr<pool_state>& home,
                                   const attributes& number, const tensor_desc& tensor,
                                   const element_kernels& elements);

/// Creates a pending tensor like another, which is filled with a number when something reads it;
/// `sync(pool)` does not compute it.
[[nodiscard]] node_ptr fill_node_of(const node_ptr& like, const attributes& number);

/// Creates the placeholder of a tensor while a function whose gradient is taken is recorded.
[[nodiscard]] node_ptr argument_node_of(const node_ptr& real);
/// The same for one element of a batch, whose type is `each`.
[[nodiscard]] node_ptr element_node_of(const node_ptr& real, const tensor_desc& each);
/// The same for the cotangent of a tensor, which has its element type and extents.
[[nodiscard]] node_ptr cotangent_node_of(const node_ptr& of, const layout_desc& layout);

}  // namespace internal

/// Creates the node of one collective, or of an operation of manual sharding.
[[nodiscard]] node_ptr collective_node_of(node_ptr from, const applied_operation& does,
                                          const tensor_desc& result);

/// Creates the nodes that reshard a tensor, one for each collective; returns the tensor itself if
/// there is nothing to do.
[[nodiscard]] node_ptr reshard_node_of(node_ptr from, const layout_desc& target);

/// Creates the node of a tensor that a rule of manual sharding changes to `result`.
[[nodiscard]] node_ptr manual_node_of(node_ptr from, const tensor_desc& result);

/// Creates the node of a further result, which has its own element kernels.
[[nodiscard]] node_ptr result_node_of(node_ptr operation, int which,
                                      const element_kernels& elements);

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/engine/definitions.hpp"
#endif
