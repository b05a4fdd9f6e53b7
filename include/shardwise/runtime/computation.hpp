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

/// A program that nodes append themselves to, and beside each instruction what computes it.
class described_program {
 public:
  described_program(program_builder& code, std::vector<operation_kernel>& kernels) noexcept
      : code_(code), kernels_(kernels) {}

  [[nodiscard]] program_builder& code() noexcept { return code_; }
  /// Says what computes an instruction.
  value_id computed_by(value_id id, const operation_kernel& kernel) noexcept {
    kernels_[static_cast<std::size_t>(id)] = kernel;
    return id;
  }

 private:
  program_builder& code_;
  std::vector<operation_kernel>& kernels_;
};

/// How a pending node gets its shards: its step on paper, its operands, and the work of one shard.
///
/// Every step pulls: the work of a shard reads operands that are complete and writes that shard
/// alone, so the shards of a step may be computed in any order, by any threads, to the same bits.
class computation {
 public:
  explicit computation(std::uint64_t sequence)
      : sequence_(sequence), recomputed_(recomputes() ? again::wholly : again::never) {}
  computation(const computation&) = delete;
  computation& operator=(const computation&) = delete;

  /// Lets go of the operands without recursion, however long the chain of pending nodes is: what
  /// dies with them leaves its own operands to the node that died first. Allocates nothing, since
  /// tensors are dropped where memory is short.
  virtual ~computation() {
    static thread_local node_ptr* orphans = nullptr;
    node_ptr own;
    const bool is_first = orphans == nullptr;
    if (is_first) orphans = &own;
    for (node_ptr& operand : operands_) {
      computation* const task = operand->task();
      // The last owner passes the node on; what others hold too is left to the last of them. So a
      // node is on one list at most, whatever other threads drop meanwhile.
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

  /// The order in which nodes were written; those with names run in it, on paper and here.
  [[nodiscard]] static std::uint64_t next_sequence() noexcept {
    static std::atomic<std::uint64_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  /// What gradients compute again of a node: nothing, all of it, or all but its value.
  enum class again : std::uint8_t { never, wholly, within };
  [[nodiscard]] again recomputed() const noexcept { return recomputed_; }
  void recompute(again what) noexcept { recomputed_ = what; }
  /// True for a result of a function with a custom gradient, which a later `gradient(loss, w)` does
  /// not know.
  [[nodiscard]] bool has_custom_gradient() const noexcept { return has_custom_gradient_; }
  void set_custom_gradient() noexcept { has_custom_gradient_ = true; }
  /// True while a thread makes nodes that gradients compute again.
  [[nodiscard]] static bool& recomputes() noexcept {
    static thread_local bool yes = false;
    return yes;
  }
  /// Appends the instructions of the node to a program, where `read` are the values of its
  /// operands, and returns the number of its own.
  [[nodiscard]] virtual value_id describe(described_program& code,
                                          std::span<const value_id> read) const = 0;
  /// How many instructions that are, at most.
  [[nodiscard]] virtual std::int32_t instructions() const noexcept = 0;
  /// What the node costs one device.
  [[nodiscard]] virtual operation_cost cost() const noexcept = 0;
  /// True for an elementwise pass, which may write over an operand.
  [[nodiscard]] virtual bool is_pass() const noexcept { return false; }
  /// True for a stand-in of a recorded function, which has no value.
  [[nodiscard]] virtual bool is_argument() const noexcept { return false; }
  /// True for an operation that may overwrite its first operand.
  [[nodiscard]] virtual bool overwrites_first() const noexcept { return false; }
  /// What it reads; nothing once it has been computed.
  [[nodiscard]] const node_operands& operands() const noexcept { return operands_; }

  /// Names the operands and puts the node, which is `node`, on the list of what its machine has to
  /// compute; `make_pending` calls it.
  void wait_for(node_operands operands, node& node) {
    operands_ = std::move(operands);
    node.home()->pending().enter(place_, node);
  }
  /// The shards are there: the operands are let go.
  void finish() noexcept {
    result().set_ready();
    place_.leave();
    operands_.clear();
  }
  /// Computing it threw: the same is thrown by every later attempt.
  void fail_with(std::exception_ptr thrown) noexcept {
    failure_ = std::move(thrown);
    place_.leave();
  }
  /// What a failed run left behind; for the holder of the machine's turn.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

  /// The node that is computed.
  [[nodiscard]] virtual node& result() noexcept = 0;
  /// Gets the memory of the shards.
  virtual void prepare() = 0;
  /// Computes one distinct shard of the node by itself, from operands that are there.
  virtual void run_shard(index_t shard) = 0;

 private:
  std::uint64_t sequence_;
  again recomputed_;
  bool has_custom_gradient_ = false;
  std::exception_ptr failure_;
  node_operands operands_;
  /// The next of those that die with a node that reads this one.
  node_ptr next_orphan_;
  pending_list::entry place_;
};

/// A node that is still to be computed.
class pending_node : public node, public computation {
 public:
  pending_node(std::shared_ptr<machine> home, placement_ptr where, const element_kernels& elements,
               std::uint64_t sequence)
      : node(std::move(home), std::move(where), elements), computation(sequence) {}

  SHARDWISE_INLINE void evaluate() override;
  [[nodiscard]] computation* task() noexcept override { return this; }
  [[nodiscard]] node& result() noexcept override { return *this; }
  void prepare() override { allocate(home()->storage(), home()->memory()); }
};

/// The placement of a result on the machine of its operands, shared with an operand that is placed
/// as it is.
[[nodiscard]] inline placement_ptr place_result(std::span<const node_ptr> operands,
                                                const tensor_desc& result) {
  for (const node_ptr& operand : operands)
    if (operand->tensor() == result) return operand->share_where();
  return operands[0]->home()->place(result);
}

/// Makes a pending node of `result` that reads these operands, in their pool. `arguments` are those
/// of the node's constructor after the pool, the placement and the elements.
template <class Node, class... Arguments>
[[nodiscard]] std::shared_ptr<Node> make_pending(std::span<node_ptr> operands,
                                                 const tensor_desc& result,
                                                 const element_kernels& elements,
                                                 Arguments&&... arguments) {
  auto made = std::make_shared<Node>(operands[0]->home(), place_result(operands, result), elements,
                                     std::forward<Arguments>(arguments)...);
  node_operands read;
  for (node_ptr& operand : operands) read.push_back(std::move(operand));
  made->wait_for(std::move(read), *made);
  return made;
}

}  // namespace shardwise
