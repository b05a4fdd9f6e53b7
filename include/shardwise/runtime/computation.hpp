// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/lifetime.hpp"
#include "shardwise/runtime/device_pool.hpp"
#include "shardwise/tensor/node.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace shardwise {

/// How a pending node gets its shards: its step on paper, its operands, and the work of one shard.
///
/// Every step pulls: the work of a shard reads operands that are complete and writes that shard
/// alone, so the shards of a step may be computed in any order, by any threads, to the same bits.
class computation {
 public:
  explicit computation(const step_desc& step) : step_(step), sequence_(next_sequence()) {}
  computation(const step_desc& step, std::uint64_t sequence) : step_(step), sequence_(sequence) {}
  computation(const computation&) = delete;
  computation& operator=(const computation&) = delete;

  /// Lets go of the operands without recursion, however long the chain of pending nodes is: what
  /// dies with them leaves its own operands to the node that died first.
  virtual ~computation() {
    if (operands_.empty()) return;
    static thread_local std::vector<std::shared_ptr<node_base>>* orphans = nullptr;
    if (orphans != nullptr) {
      for (std::shared_ptr<node_base>& operand : operands_) orphans->push_back(std::move(operand));
      return;
    }
    std::vector<std::shared_ptr<node_base>> own = std::move(operands_);
    orphans = &own;
    while (!own.empty()) {
      const std::shared_ptr<node_base> last = std::move(own.back());
      own.pop_back();
    }
    orphans = nullptr;
  }

  /// The order in which nodes were written; programs run in it, on paper and here.
  [[nodiscard]] static std::uint64_t next_sequence() noexcept {
    static std::atomic<std::uint64_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  [[nodiscard]] const step_desc& step() const noexcept { return step_; }
  /// What it reads; nothing once it has been computed.
  [[nodiscard]] const std::vector<std::shared_ptr<node_base>>& operands() const noexcept {
    return operands_;
  }

  /// Names the operands and puts the node, which is `node`, on the list of what its machine has to
  /// compute; `make_pending` calls it.
  void wait_for(std::vector<std::shared_ptr<node_base>> operands, node_base& node) {
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
  [[nodiscard]] virtual node_base& result() noexcept = 0;
  /// Gets the memory of the shards: new, or that of operand `reuses` if it is not -1.
  virtual void prepare(std::int32_t reuses) = 0;
  /// Computes one distinct shard.
  virtual void run_shard(index_t shard) = 0;

 private:
  step_desc step_;
  std::uint64_t sequence_;
  std::exception_ptr failure_;
  std::vector<std::shared_ptr<node_base>> operands_;
  pending_list::entry place_;
};

/// Runs the program of these nodes: everything pending that they need, in the order in which it was
/// written. All live on one machine; one program runs on a machine at a time.
void run_program(const std::vector<node_base*>& roots);

/// Runs the program of everything that is pending on a machine and that somebody holds.
void run_pending(machine& home);

/// A pending node of `T`.
template <class T>
class pending_node : public node<T>, public computation {
 public:
  pending_node(std::shared_ptr<machine> home, const placement& where, const step_desc& step,
               std::uint64_t sequence = computation::next_sequence())
      : node<T>(std::move(home), where, false), computation(step, sequence) {}

  void evaluate() override {
    if (!this->ready()) run_program({this});
  }
  [[nodiscard]] computation* task() noexcept override { return this; }
  [[nodiscard]] node_base& result() noexcept override { return *this; }

  void prepare(std::int32_t reuses) override {
    const placement& where = this->where();
    if (reuses >= 0) {
      // Shared until the operand, which nobody else needs, is let go after this step.
      auto& operand = operand_at(static_cast<std::size_t>(reuses));
      this->shards() = operand.shards();
      this->take_charge_of(operand);
      return;
    }
    std::vector<buffer<T>> shards;
    shards.reserve(static_cast<std::size_t>(where.count()));
    for (index_t s = 0; s < where.count(); ++s)
      shards.emplace_back(this->home()->storage(), volume(where.box_of(where.device_of(s))));
    this->shards() = std::move(shards);
    this->charge(this->home()->memory());
  }

 protected:
  [[nodiscard]] node<T>& operand_at(std::size_t k) {
    return static_cast<node<T>&>(*this->operands()[k]);
  }
  /// The shard being computed, as a row-major block.
  [[nodiscard]] strided<T> block_of(index_t shard, const extents_desc& extents) {
    return {this->shards()[static_cast<std::size_t>(shard)].writable(), extents,
            row_major(extents)};
  }
};

/// Makes a pending node that reads these operands, in their pool. `arguments` are those of the
/// node's constructor after the pool.
template <class Node, class T, std::size_t N, class... Arguments>
[[nodiscard]] std::shared_ptr<Node> make_pending(const std::array<node_ptr<T>, N>& operands,
                                                 Arguments&&... arguments) {
  auto made = std::make_shared<Node>(operands[0]->home(), std::forward<Arguments>(arguments)...);
  made->wait_for({operands.begin(), operands.end()}, *made);
  return made;
}

}  // namespace shardwise
