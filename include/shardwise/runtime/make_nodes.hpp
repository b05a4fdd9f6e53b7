// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/plan/collective_operation.hpp"
#include "shardwise/runtime/number_operand.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace shardwise {

namespace detail {

/// The order in which expressions and nodes were written; those with names run in it, on paper and
/// here.
[[nodiscard]] std::uint64_t next_sequence() noexcept;

/// Refuses an operand of another pool.
void require_one_pool(const std::shared_ptr<machine>& home, const node_ptr& operand);

/// A pending elementwise function of tensors and numbers that makes `result`.
[[nodiscard]] node_ptr make_each_node(std::span<node_ptr> operands, const tensor_desc& result,
                                      const element_kernels& elements, const operation& what,
                                      const operation_kernel& kernel,
                                      const number_operands& numbers);

/// How the kernel of an operation is found, for operands of these types and a result of that.
using kernel_finder = operation_kernel (*)(std::span<const element> operands, element result);

/// A pending operation that is not elementwise, on tensors of one pool: `split` is what its rule
/// makes of them.
[[nodiscard]] node_ptr make_whole_node(std::span<node_ptr> operands, const applied_operation& does,
                                       const factor_rule& rule, const propagation& split,
                                       const element_kernels& elements, kernel_finder find);

/// A tensor of rank 0 on a machine that holds a number.
[[nodiscard]] node_ptr number_node(const std::shared_ptr<machine>& home, const attributes& number,
                                   const tensor_desc& tensor, const element_kernels& elements);

/// What stands for a tensor while a function of it is recorded whose gradient is taken.
[[nodiscard]] node_ptr argument_node_of(const node_ptr& real);
/// The same for one element of a batch, which is `each` on paper.
[[nodiscard]] node_ptr element_node_of(const node_ptr& real, const tensor_desc& each);
/// The same for the cotangent of a tensor, which has its element type and extents.
[[nodiscard]] node_ptr cotangent_node_of(const node_ptr& of, const layout_desc& layout);

}  // namespace detail

/// The node of one collective, or of what manual sharding does, which every device does with its
/// own shard or its group's.
[[nodiscard]] node_ptr collective_node_of(node_ptr from, const applied_operation& does,
                                          const tensor_desc& result);

/// The nodes that take a tensor to another layout, one for each collective; the tensor itself if
/// there is nothing to do.
[[nodiscard]] node_ptr reshard_node_of(node_ptr from, const layout_desc& target);

/// The node of a tensor that a rule of manual sharding changes to `result`.
[[nodiscard]] node_ptr manual_node_of(node_ptr from, const tensor_desc& result);

/// The node of a further result, which holds the elements of its kernels.
[[nodiscard]] node_ptr result_node_of(node_ptr operation, int which,
                                      const element_kernels& elements);

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/make_nodes_work.hpp"
#endif
