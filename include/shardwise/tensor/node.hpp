// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/tensor/buffer.hpp"
#include "shardwise/tensor/device_memory.hpp"
#include "shardwise/tensor/placement.hpp"

#include <atomic>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

namespace shardwise {

class computation;
class machine;

/// One tensor of a running program, whatever its element type: its description, the machine that it
/// lives on, and whether its shards have been computed.
///
/// Handles share nodes; the graph of a program is the nodes and the operands that they hold.
class node_base : public std::enable_shared_from_this<node_base> {
 public:
  node_base(std::shared_ptr<machine> home, placement_ptr where, bool ready)
      : home_(std::move(home)), where_(std::move(where)), ready_(ready) {}
  node_base(const node_base&) = delete;
  node_base& operator=(const node_base&) = delete;
  virtual ~node_base() {
    if (charged_ != nullptr) charge(*charged_, -1);
  }

  [[nodiscard]] const std::shared_ptr<machine>& home() const noexcept { return home_; }
  [[nodiscard]] const placement& where() const noexcept { return *where_; }
  [[nodiscard]] const placement_ptr& share_where() const noexcept { return where_; }
  [[nodiscard]] const tensor_desc& tensor() const noexcept { return where_->tensor(); }

  /// True if the shards are there. They then stay as they are for as long as somebody holds them.
  [[nodiscard]] bool ready() const noexcept { return ready_.load(std::memory_order_acquire); }

  /// Computes the shards, and all that they need, unless they are there.
  virtual void evaluate() {}
  /// How the shards are computed; null where they were given.
  [[nodiscard]] virtual computation* task() noexcept { return nullptr; }

  /// Charges every device with its shard, until this node dies or another takes the memory over.
  void charge(device_memory& memory) noexcept {
    charged_ = &memory;
    charge(memory, 1);
  }
  /// Takes over the memory of a node with the same description.
  void take_charge_of(node_base& other) noexcept { std::swap(charged_, other.charged_); }

  void set_ready() noexcept { ready_.store(true, std::memory_order_release); }

  /// True if the program used the tensor by a name; from then on it stays so.
  [[nodiscard]] bool named() const noexcept { return named_.load(std::memory_order_relaxed); }
  void name() noexcept {
    if (!named()) named_.store(true, std::memory_order_relaxed);
  }

  /// The node's number in the program that is being run; meaningful for the thread that runs it.
  std::int32_t number = -1;

 private:
  void charge(device_memory& memory, index_t sign) noexcept {
    const placement& at = *where_;
    const index_t size = sign * size_of(tensor().type);
    for (index_t d = 0; d < at.devices(); ++d)
      memory.charge(
          d, tensor().layout.uneven ? size * volume(at.box_of(d)) : sign * at.bytes_per_device());
  }

  std::shared_ptr<machine> home_;
  placement_ptr where_;
  std::atomic<bool> ready_;
  std::atomic<bool> named_{false};
  device_memory* charged_ = nullptr;
};

/// A tensor of `T` of a running program: the buffers of its distinct shards.
template <class T>
class node : public node_base {
 public:
  using node_base::node_base;

  /// A tensor whose shards are there already, row-major, in the order of the placement.
  node(std::shared_ptr<machine> home, placement_ptr where, std::vector<buffer<T>> shards)
      : node_base(std::move(home), std::move(where), true), shards_(std::move(shards)) {}
  /// The last shard goes first: the arena hands out first what came last, so the shards of the next
  /// tensor of this kind get the memory of these, each in the cache of the core that works on it.
  ~node() override {
    while (!shards_.empty()) shards_.pop_back();
  }

  /// The elements of a distinct shard; empty while the node is pending.
  [[nodiscard]] const buffer<T>& shard(index_t place) const noexcept {
    return shards_[static_cast<std::size_t>(place)];
  }
  /// The shards, for the computation that makes them.
  [[nodiscard]] std::vector<buffer<T>>& shards() noexcept { return shards_; }

  /// All of `held`, what a device holds.
  [[nodiscard]] strided<const T> block(index_t device, const held_box& held) const noexcept {
    const extents_desc extents = extents_of(held);
    return {shard(where().shard_of(device)).data(), extents, row_major(extents)};
  }
  /// The part `want` of the tensor as a device holds it; its shard contains it.
  [[nodiscard]] strided<const T> view(index_t device, const box& want) const noexcept {
    return part_of(shard(where().shard_of(device)).data(), where().box_of(device), want);
  }

 private:
  std::vector<buffer<T>> shards_;
};

/// A shared handle of a node.
template <class T>
using node_ptr = std::shared_ptr<node<T>>;

/// Anything with a node behind it: a tensor, an expression, an `any_tensor`.
template <class X>
concept Readable = detail::standing_of<X>
!= detail::standing::refused_tensor&& requires(const X& x) {
  typename X::value_type;
  { x.share() } -> std::convertible_to<node_ptr<typename X::value_type>>;
};

}  // namespace shardwise
