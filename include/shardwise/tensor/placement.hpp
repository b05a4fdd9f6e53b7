// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/strided.hpp"
#include "shardwise/layout/shard_owners.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace shardwise {

/// Where the shards of one tensor are: distinct shards, their boxes, and the devices that hold
/// them.
///
/// Devices that hold the same elements share one shard; shards are numbered as in `shards_of`.
/// Tensors of one mesh, layout and shape share one placement, whose facts are computed once.
///
/// Where several processes own devices, a placement is that of one of them: its shards are *here*,
/// those which only others hold are numbered and described like all.
class placement {
 public:
  placement(const mesh_desc& mesh, const tensor_desc& tensor) noexcept;
  /// The same as owner `self` has it, one of several; the list of the owners outlives it.
  placement(const mesh_desc& mesh, const tensor_desc& tensor, const device_owners& owners,
            index_t self);

  [[nodiscard]] const mesh_desc& mesh() const noexcept { return mesh_; }
  [[nodiscard]] const tensor_desc& tensor() const noexcept { return tensor_; }

  /// The number of devices, of distinct shards, and of devices that hold each.
  [[nodiscard]] index_t devices() const noexcept { return devices_; }
  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] index_t replicas() const noexcept { return devices_ / count_; }

  /// True if this process owns the device, and if one of its devices holds the shard.
  [[nodiscard]] bool owns(index_t device) const noexcept {
    return own_devices_.empty() || owners_.owner_of(device) == self_;
  }
  [[nodiscard]] bool is_here(index_t shard) const noexcept {
    return own_devices_.empty() || own_devices_[static_cast<std::size_t>(shard)] >= 0;
  }
  /// The number of shards that are here, and each of them, ascending.
  [[nodiscard]] index_t count_here() const noexcept {
    return own_devices_.empty() ? count_ : static_cast<index_t>(here_.size());
  }
  [[nodiscard]] index_t shard_here(index_t i) const noexcept {
    return own_devices_.empty() ? i : here_[static_cast<std::size_t>(i)];
  }

  /// The shard that a device holds, which of its replicas that is, and the first device of a shard:
  /// of this process's devices, if one of them holds it.
  [[nodiscard]] index_t shard_of(index_t device) const noexcept {
    return shards_.position_of(device);
  }
  [[nodiscard]] index_t replica_of(index_t device) const noexcept {
    return shards_.group_of(device);
  }
  [[nodiscard]] index_t device_of(index_t shard) const noexcept {
    const bool is_own = !own_devices_.empty() && is_here(shard);
    return is_own ? own_devices_[static_cast<std::size_t>(shard)] : first_device_of(shard);
  }

  /// The first device of a shard, whoever owns it.
  [[nodiscard]] index_t first_device_of(index_t shard) const noexcept {
    return shards_.member(0, shard);
  }

  /// The part of the tensor that a device holds, and which global indices that is.
  [[nodiscard]] index_box box_of(index_t device) const noexcept;
  [[nodiscard]] held_box held_by(index_t device) const noexcept;

  /// The extents of a shard, and the number of its elements. Exact layouts without halos have
  /// shards of one size.
  [[nodiscard]] extents_desc extents_of_shard(index_t shard) const noexcept;
  [[nodiscard]] index_t size_of_shard(index_t shard) const noexcept;
  /// The elements of the largest shard, and their bytes.
  [[nodiscard]] index_t largest_shard_size() const noexcept { return largest_size_; }
  [[nodiscard]] index_t bytes_per_device() const noexcept {
    return largest_size_ * size_of(tensor_.type);
  }

  /// The bytes that a device is charged for: those of the largest shard unless sizes may differ.
  [[nodiscard]] index_t charged_to(index_t device) const noexcept;

  /// True if both number their shards alike: step by step, shard `s` of one needs only shard `s` of
  /// the other.
  [[nodiscard]] bool numbers_like(const placement& other) const noexcept {
    return this == &other || (tensor_.layout.dims == other.tensor_.layout.dims &&
                              tensor_.layout.pending == other.tensor_.layout.pending &&
                              tensor_.layout.manual == other.tensor_.layout.manual);
  }

 private:
  [[nodiscard]] bool has_one_size() const noexcept {
    return !tensor_.layout.uneven && !tensor_.layout.has_halo();
  }

  mesh_desc mesh_;
  tensor_desc tensor_;
  device_groups shards_;
  index_t count_;
  index_t devices_;
  extents_desc largest_;
  index_t largest_size_;
  device_owners owners_{};
  index_t self_ = 0;
  /// By shard, the first of this process's devices that holds it, or -1; empty where there is one
  /// owner.
  std::vector<index_t> own_devices_;
  /// The shards that are here.
  std::vector<index_t> here_;
};

/// A placement that tensors share.
using placement_ptr = std::shared_ptr<const placement>;

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/tensor/placement_work.hpp"
#endif
