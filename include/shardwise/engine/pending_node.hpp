// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/compiled_loop.hpp"
#include "shardwise/engine/number_operand.hpp"
#include "shardwise/engine/pool_state.hpp"
#include "shardwise/plan/cluster.hpp"
#include "shardwise/plan/planned_program.hpp"
#include "shardwise/tensor/node.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>

namespace shardwise {

/// The tensors that a pending node reads.
using node_operands = inplace_vector<node_ptr, max_fused_operands>;

/// The shards of the results of an operation after the first, by result.
using further_shards = internal::growable<internal::growable<shard_buffer<std::byte>>>;

/// What a pending node applies to its operands: an operation, or several that are compiled as one
/// loop.
struct node_work {
  const operation* what = nullptr;
  operation_kernel kernel{};
  /// The parameters of the operation; null if it has none.
  std::shared_ptr<const attributes> how{};
  /// For an operation that is neither elementwise nor a collective.
  call_details_ptr details{};
  /// For a collective, what makes its work.
  internal::moving_step_maker moves = nullptr;
  /// The numbers among the operands of an elementwise operation.
  number_operands numbers{};
  compiled_loop loop{};

  /// Sets the parameters, and how devices split the operation.
  void split_as(call_details_ptr as) noexcept {
    how = {as, &as->how};
    details = std::move(as);
  }
};

/// A node that is not computed yet: what computes it, and the operands.
///
/// The node itself computes nothing: it appends its instructions to a program, whose executor does;
/// see `lower` and `program_run`.
class pending_node final : public tensor_node {
 public:
  pending_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
               const element_kernels& elements, const operation& what,
               std::uint64_t sequence = next_sequence())
      : tensor_node(std::move(home), std::move(where), elements),
        sequence_(sequence),
        recomputed_(recomputes() ? again::wholly : again::never) {
    work_.what = &what;
  }

  /// Releases the operands without recursion, however long the chain of pending nodes is: nodes
  /// that are destroyed with this one leave their own operands to it. Allocates nothing, since
  /// tensors may be released when memory is short.
  ~pending_node() override {
    static thread_local node_ptr* orphans = nullptr;
    node_ptr own;
    const bool is_first = orphans == nullptr;
    if (is_first) orphans = &own;
    for (node_ptr& operand : operands_) {
      pending_node* const task = operand->task();
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

  [[nodiscard]] const node_work& work() const noexcept { return work_; }
  /// The same while the node is being made.
  [[nodiscard]] node_work& work() noexcept { return work_; }
  /// Returns the operands; none after it has been computed.
  [[nodiscard]] const node_operands& operands() const noexcept { return operands_; }
  /// Returns the parameters of the operation.
  [[nodiscard]] const attributes& how() const noexcept {
    static constexpr attributes nothing{};
    return work_.how != nullptr ? *work_.how : nothing;
  }
  /// Returns true for a placeholder in a recorded function, and for a variable that a failed step
  /// had begun to overwrite: they have no value, so reading one, or what depends on it, is an
  /// error.
  [[nodiscard]] bool is_without_value() const noexcept { return work_.what->is_leaf; }
  /// Returns true for a placeholder in a recorded function.
  [[nodiscard]] bool is_argument() const noexcept {
    return is_without_value() && failure_ == nullptr;
  }
  /// Returns true for an elementwise pass, which may overwrite an operand.
  [[nodiscard]] bool is_pass() const noexcept {
    return work_.loop ? work_.loop->is_pass : work_.what->is_elementwise;
  }
  /// Returns true for an operation that may use the memory of its first operand for its result.
  [[nodiscard]] bool reuses_first() const noexcept {
    return !work_.loop && !operands_.empty() &&
           may_reuse_first(*work_.what, where().mesh(), operands_[0]->tensor(), tensor());
  }
  /// Appends the instructions of the node to a program, where `read` are the values of its
  /// operands, and returns the number of its result.
  [[nodiscard]] SHARDWISE_INLINE value_id describe(described_program& to,
                                                   std::span<const value_id> read) const;
  /// Returns the number of these instructions.
  [[nodiscard]] std::int32_t instructions() const noexcept {
    return work_.loop ? work_.loop->instructions : 1 + work_.numbers.ssize();
  }
  /// Returns the cost of the node for one device.
  [[nodiscard]] SHARDWISE_INLINE operation_cost cost() const noexcept;
  /// Returns the memory of the results after the first.
  [[nodiscard]] further_shards& further() noexcept { return further_; }

  SHARDWISE_INLINE void evaluate() override;
  [[nodiscard]] pending_node* task() noexcept override { return this; }

  /// Takes the operands, and adds the node to the pending list of its machine.
  void wait_for(std::span<node_ptr> operands) {
    for (node_ptr& operand : operands) {
      operand->arrive();
      operands_.push_back(std::move(operand));
    }
    home()->pending().enter(place_, *this);
  }
  /// Marks the node as computed and releases the operands.
  void finish() noexcept {
    set_ready();
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
  /// Throws the reason why the node has no value.
  [[noreturn]] SHARDWISE_INLINE void refuse() const;

 private:
  std::uint64_t sequence_;
  again recomputed_;
  bool has_custom_gradient_ = false;
  node_work work_;
  std::exception_ptr failure_;
  node_operands operands_;
  further_shards further_;
  /// The next of the nodes that are destroyed with a node that reads this one.
  node_ptr next_orphan_;
  pending_list::entry place_;
};

/// Creates a node of `result` that applies an operation to these operands in the pool `home`; what
/// else its work has is to be set before it waits for them.
[[nodiscard]] inline std::shared_ptr<pending_node> new_node(
    const std::shared_ptr<pool_state>& home, std::span<const node_ptr> operands,
    const tensor_desc& result, const element_kernels& elements, const operation& what,
    std::uint64_t sequence = pending_node::next_sequence()) {
  // The table of an operand with the same shards is shared.
  for (const node_ptr& operand : operands)
    if (operand->tensor() == result)
      return std::make_shared<pending_node>(home, operand->share_where(), elements, what, sequence);
  return std::make_shared<pending_node>(home, home->place(result), elements, what, sequence);
}

}  // namespace shardwise
