// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/planned_program.hpp"
#include "shardwise/plan/program_builder.hpp"
#include "shardwise/runtime/device_pool.hpp"
#include "shardwise/tensor/node.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace shardwise {

/// The tensors that a pending node reads.
using node_operands = inplace_vector<node_ptr, max_fused_operands>;

/// A program to which nodes append themselves, with the kernel of each instruction.
class described_program {
 public:
  described_program(program_builder& code, std::vector<operation_kernel>& kernels) noexcept
      : code_(code), kernels_(kernels) {}

  [[nodiscard]] program_builder& code() noexcept { return code_; }
  /// Sets the kernel of an instruction.
  value_id computed_by(value_id id, const operation_kernel& kernel) noexcept {
    kernels_[static_cast<std::size_t>(id)] = kernel;
    return id;
  }

 private:
  program_builder& code_;
  std::vector<operation_kernel>& kernels_;
};

/// How a pending node gets its shards: its step, its operands, and the work for one shard.
///
/// Every step pulls: the work for a shard reads complete operands and writes only that shard, so
/// the shards of a step may be computed in any order and by any threads, with the same bits.
class pending_computation {
 public:
  explicit pending_computation(std::uint64_t sequence)
      : sequence_(sequence), recomputed_(recomputes() ? again::wholly : again::never) {}
  pending_computation(const pending_computation&) = delete;
  pending_computation& operator=(const pending_computation&) = delete;

  /// Releases the operands without recursion, however long the chain of pending nodes is: nodes
  /// that are destroyed with this one leave their own operands to it. Allocates nothing, since
  /// tensors may be released when memory is short.
  virtual ~pending_computation() {
    static thread_local node_ptr* orphans = nullptr;
    node_ptr own;
    const bool is_first = orphans == nullptr;
    if (is_first) orphans = &own;
    for (node_ptr& operand : operands_) {
      pending_computation* const task = operand->task();
      // The last owner passes the node on. So a node is on at most one list, whatever other threads
      // release meanwhile.
      if (task != nullptr && operand.use_count() == 1)
        task->next_orphan_ = std::exchange(*orphans, std::move(operand));
      operand.reset();
    }
    if (!is_first) return;
    while (own != nullptr) {
      const node_ptr last = std::move(own);
      own = std::move(last->task()->next_orphan_);
    }
    orphans = nullptr;
  }

  /// Returns a number that orders nodes as the program created them; named ones run in this order,
  /// on paper and here.
  [[nodiscard]] static std::uint64_t next_sequence() noexcept {
    static std::atomic<std::uint64_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  /// Which values of a node gradients compute again: none, all, or all except its result.
  enum class again : std::uint8_t { never, wholly, within };
  [[nodiscard]] again recomputed() const noexcept { return recomputed_; }
  void recompute(again what) noexcept { recomputed_ = what; }
  /// Returns true for a result of a function with a custom gradient, which a later `gradient(loss,
  /// w)` cannot take into account.
  [[nodiscard]] bool has_custom_gradient() const noexcept { return has_custom_gradient_; }
  void set_custom_gradient() noexcept { has_custom_gradient_ = true; }
  /// True while a thread creates nodes that gradients compute again.
  [[nodiscard]] static bool& recomputes() noexcept {
    static thread_local bool yes = false;
    return yes;
  }
  /// Appends the instructions of the node to a program, where `read` are the values of its
  /// operands, and returns the number of its result.
  [[nodiscard]] virtual value_id describe(described_program& code,
                                          std::span<const value_id> read) const = 0;
  /// Returns an upper bound for the number of these instructions.
  [[nodiscard]] virtual std::int32_t instructions() const noexcept = 0;
  /// Returns the cost of the node for one device.
  [[nodiscard]] virtual operation_cost cost() const noexcept = 0;
  /// Returns true for an elementwise pass, which may overwrite an operand.
  [[nodiscard]] virtual bool is_pass() const noexcept { return false; }
  /// Returns true for a placeholder in a recorded function, which has no value.
  [[nodiscard]] virtual bool is_argument() const noexcept { return false; }
  /// Returns true for an operation that may use the memory of its first operand for its result.
  [[nodiscard]] virtual bool reuses_first() const noexcept { return false; }
  /// Returns the operands; none after it has been computed.
  [[nodiscard]] const node_operands& operands() const noexcept { return operands_; }

  /// Sets the operands and adds `tensor_node`, which is the node itself, to the pending list of its
  /// machine; called by `make_pending`.
  void wait_for(node_operands operands, tensor_node& node) {
    operands_ = std::move(operands);
    node.home()->pending().enter(place_, node);
  }
  /// Marks the node as computed and releases the operands.
  void finish() noexcept {
    result().set_ready();
    place_.leave();
    operands_.clear();
  }
  /// Stores the exception of a failed computation, which every later attempt throws again.
  void fail_with(std::exception_ptr thrown) noexcept {
    failure_ = std::move(thrown);
    place_.leave();
  }
  /// Returns the exception of a failed run; for the holder of the machine's turn.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

  /// Returns the node that is computed.
  [[nodiscard]] virtual tensor_node& result() noexcept = 0;
  /// Allocates the memory of the shards.
  virtual void prepare() = 0;
  /// Computes one distinct shard of the node from complete operands.
  virtual void run_shard(index_t shard) = 0;

 private:
  std::uint64_t sequence_;
  again recomputed_;
  bool has_custom_gradient_ = false;
  std::exception_ptr failure_;
  node_operands operands_;
  /// The next of the nodes that are destroyed with a node that reads this one.
  node_ptr next_orphan_;
  pending_list::entry place_;
};

/// A node that is not computed yet.
class pending_node : public tensor_node, public pending_computation {
 public:
  pending_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
               const element_kernels& elements, std::uint64_t sequence)
      : tensor_node(std::move(home), std::move(where), elements), pending_computation(sequence) {}

  SHARDWISE_INLINE void evaluate() override;
  [[nodiscard]] pending_computation* task() noexcept override { return this; }
  [[nodiscard]] tensor_node& result() noexcept override { return *this; }
  void prepare() override { allocate(home()->storage(), home()->memory()); }
};

/// Returns the shard table of a result on the machine of its operands; it is shared with an operand
/// with an equal table.
[[nodiscard]] inline shard_table_ptr place_result(std::span<const node_ptr> operands,
                                                  const tensor_desc& result) {
  for (const node_ptr& operand : operands)
    if (operand->tensor() == result) return operand->share_where();
  return operands[0]->home()->place(result);
}

/// Creates a pending node of `result` that reads these operands, in their pool. `arguments` are
/// those of the node's constructor after the pool, the shard table and the elements.
template <class Node, class... Arguments>
[[nodiscard]] std::shared_ptr<Node> make_pending(std::span<node_ptr> operands,
                                                 const tensor_desc& result,
                                                 const element_kernels& elements,
                                                 Arguments&&... arguments) {
  auto made = std::make_shared<Node>(operands[0]->home(), place_result(operands, result), elements,
                                     std::forward<Arguments>(arguments)...);
  node_operands read;
  for (node_ptr& operand : operands) {
    operand->arrive();
    read.push_back(std::move(operand));
  }
  made->wait_for(std::move(read), *made);
  return made;
}

}  // namespace shardwise
