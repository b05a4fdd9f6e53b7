// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/expression/operand.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/tensor/buffer.hpp"
#include "shardwise/tensor/device_memory.hpp"
#include "shardwise/tensor/shard_table.hpp"

#include <atomic>
#include <concepts>
#include <memory>
#include <utility>
#include <vector>

namespace shardwise {

class pending_node;
class pool_state;

/// One tensor of a running program, independent of its element type: its description, its machine,
/// and its distinct shards, or how to compute them.
///
/// Handles share nodes; the graph of a program consists of the nodes and the operands that they
/// hold.
class tensor_node : public std::enable_shared_from_this<tensor_node> {
 public:
  /// Creates a tensor of these elements whose shards are not computed yet.
  tensor_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
              const element_kernels& elements)
      : home_(std::move(home)), where_(std::move(where)), elements_(&elements), ready_(false) {}
  /// Creates a tensor from computed shards, row-major, in the order of the table.
  template <Element T>
  tensor_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
              const std::vector<shard_buffer<T>>& shards)
      : home_(std::move(home)),
        where_(std::move(where)),
        elements_(&element_kernels_of<T>),
        ready_(true) {
    shards_.reserve(shards.size());
    for (const shard_buffer<T>& shard : shards) shards_.push_back(shard.as_bytes());
  }
  tensor_node(const tensor_node&) = delete;
  tensor_node& operator=(const tensor_node&) = delete;
  /// The shards are destroyed in reverse order: the arena first returns the blocks that were freed
  /// last, so the shards of the next similar tensor get the same memory, each in the cache of the
  /// core that computes it. Inline in the class definition: otherwise every file with headers alone
  /// would contain the code of the class, and of the whole engine with it.
  SHARDWISE_INLINE virtual ~tensor_node();

  [[nodiscard]] const std::shared_ptr<pool_state>& home() const noexcept { return home_; }
  [[nodiscard]] const shard_table& where() const noexcept { return *where_; }
  [[nodiscard]] const shard_table_ptr& share_where() const noexcept { return where_; }
  [[nodiscard]] const tensor_desc& tensor() const noexcept { return where_->tensor(); }
  [[nodiscard]] const element_kernels& elements() const noexcept { return *elements_; }

  /// Returns true if the shards are computed. They do not change as long as they are held.
  [[nodiscard]] bool ready() const noexcept { return ready_.load(std::memory_order_acquire); }
  /// Computes the shards, and everything that they depend on, unless they are computed already.
  SHARDWISE_INLINE virtual void evaluate();
  /// Copies the elements to the devices if they wait on the host, at the first use.
  void arrive() {
    if (!ready() && task() == nullptr) evaluate();
  }
  /// Returns the same tensor in another layout if its elements wait on the host, from where they
  /// are copied in this layout; null otherwise.
  [[nodiscard]] SHARDWISE_INLINE virtual std::shared_ptr<tensor_node> placed_as(
      const layout_desc& layout);
  /// Returns how the shards are computed; null if they were given, or wait on the host.
  [[nodiscard]] SHARDWISE_INLINE virtual pending_node* task() noexcept;

  /// Returns the memory of a distinct shard; empty while the node is pending, and for a shard that
  /// only other processes hold.
  [[nodiscard]] const shard_buffer<std::byte>& shard(index_t place) const noexcept {
    return shards_[static_cast<std::size_t>(place)];
  }
  /// Returns the elements of a distinct shard, whose type is `T`.
  template <class T>
  [[nodiscard]] const T* data(index_t place) const noexcept {
    return static_cast<const T*>(static_cast<const void*>(shard(place).data()));
  }
  /// Returns a distinct shard as a row-major block, for reading, and for writing by its
  /// computation.
  [[nodiscard]] const_any_block block_of(index_t place) const noexcept;
  template <class T>
  [[nodiscard]] T* writable_data(index_t place) noexcept {
    return static_cast<T*>(static_cast<void*>(shards_[static_cast<std::size_t>(place)].writable()));
  }
  [[nodiscard]] any_block writable_block(index_t place) noexcept;
  /// Returns everything that a device holds, and the part `want` of it.
  [[nodiscard]] const_any_block held_by(index_t device) const noexcept;
  [[nodiscard]] const_any_block part_held_by(index_t device, const index_box& want) const noexcept;

  /// Allocates uninitialised memory for the shards that are here, and charges the devices for it.
  void allocate(memory_arena& storage, device_memory& memory);
  /// Returns true if no other tensor and no view shares the memory of the shards.
  [[nodiscard]] bool owns_memory() const noexcept;
  /// Shares the memory of another node.
  void share_memory(const internal::growable<shard_buffer<std::byte>>& shards);
  /// Shares the memory of `other`, which stays charged for it. Only the first call allocates.
  void view_memory_of(const tensor_node& other);
  /// Refers to the memory of `other` without owning it: `other` must keep it until this node calls
  /// `drop_memory`.
  void borrow_memory_of(const tensor_node& other);
  /// Releases memory that is shared or borrowed.
  void drop_memory() noexcept;
  /// Allocates memory that is not charged to a device: new, or returned by `take(bytes)`.
  template <class Take>
  void get_memory(const Take& take) {
    shards_.resize(static_cast<std::size_t>(where().count()));
    for (index_t s = 0; s < where().count(); ++s)
      if (where().is_here(s))
        shards_[static_cast<std::size_t>(s)] =
            take(where().size_of_shard(s) * size_of(tensor().type));
  }
  /// Shares the memory of `other`, a node of the same description that nothing else needs, and
  /// takes over its charge.
  void take_memory_of(tensor_node& other);
  /// Charges every device with its shard, until this node is destroyed or another takes over the
  /// memory.
  void charge(device_memory& memory) noexcept;
  void set_ready() noexcept { ready_.store(true, std::memory_order_release); }

  /// Returns true if the program has used the tensor by name; it stays so afterwards.
  [[nodiscard]] bool named() const noexcept { return named_.load(std::memory_order_relaxed); }
  void name() noexcept {
    if (!named()) named_.store(true, std::memory_order_relaxed);
  }

  /// Returns a number that orders nodes by their creation or, for values of compiled steps, by the
  /// run that computed them.
  [[nodiscard]] std::uint64_t birth() const noexcept { return birth_; }
  [[nodiscard]] static std::uint64_t next_birth() noexcept {
    static std::atomic<std::uint64_t> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
  }
  /// Records that a compiled step computed the value, from operands that the node does not know.
  /// The values of one run have the same birth.
  void set_made_by_step(std::uint64_t birth) noexcept {
    birth_ = birth;
    is_made_by_step_ = true;
  }
  [[nodiscard]] bool is_made_by_step() const noexcept { return is_made_by_step_; }

  /// Returns what identifies the value in the same way on all owners of the mesh: when it was made,
  /// or which program computed it; 0 if that is not known.
  [[nodiscard]] std::uint64_t origin() const noexcept { return origin_; }
  void set_origin(std::uint64_t origin) noexcept { origin_ = origin; }

  /// The node's number in the running program; only valid for the thread that runs it.
  std::int32_t number = -1;

 private:
  /// Every device is charged for its shard; one with a halo like the device with the most
  /// neighbours, so that device 0 has the maximum of everything.
  void charge(device_memory& memory, index_t sign) noexcept;

  std::shared_ptr<pool_state> home_;
  shard_table_ptr where_;
  const element_kernels* elements_;
  internal::growable<shard_buffer<std::byte>> shards_;
  std::atomic<bool> ready_;
  std::atomic<bool> named_{false};
  device_memory* charged_ = nullptr;
  std::uint64_t birth_ = next_birth();
  bool is_made_by_step_ = false;
  std::uint64_t origin_ = 0;
};

/// A shared handle of a node.
using node_ptr = std::shared_ptr<tensor_node>;

namespace detail {
[[noreturn, gnu::noinline]] inline void refuse_moved() {
  fail({.rule = violation::tensor_was_moved});
}
}  // namespace detail

/// Returns the node of a tensor; reports an error if the tensor was moved from.
[[nodiscard]] inline const node_ptr& require_there(const node_ptr& state) {
  if (state == nullptr) detail::refuse_moved();
  return state;
}

/// A type with a node: a tensor, an expression, an `any_tensor`.
template <class X>
concept Readable = (internal::operand_kind_of<X> != internal::operand_kind::refused_tensor) &&
                   requires(const X& x) {
  typename X::value_type;
  { x.share() } -> std::convertible_to<node_ptr>;
};

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/tensor/node_work.hpp"
#endif
