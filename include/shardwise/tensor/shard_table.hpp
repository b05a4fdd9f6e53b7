// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/strided.hpp"
#include "shardwise/layout/shard_owners.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <cstddef>
#include <memory>

namespace shardwise {

/// The distinct shards of one tensor, their boxes, and the devices that hold them.
///
/// Devices that hold the same elements share one shard; shards are numbered as in `shards_of`.
/// Tensors with the same mesh, layout and shape share one table, which is computed once.
///
/// If several processes own devices, a table is that of one of them: its shards are *here*;
/// those that only other processes hold are numbered and described in the same way.
class shard_table {
 public:
  shard_table(const mesh_desc& mesh, const tensor_desc& tensor) noexcept;
  /// Creates the table for owner `self`, one of several; the list of the owners must outlive
  /// it.
  shard_table(const mesh_desc& mesh, const tensor_desc& tensor, const device_owners& owners,
              index_t self);

  [[nodiscard]] const mesh_desc& mesh() const noexcept { return mesh_; }
  [[nodiscard]] const tensor_desc& tensor() const noexcept { return tensor_; }

  /// Returns the number of devices, of distinct shards, and of devices that hold each shard.
  [[nodiscard]] index_t devices() const noexcept { return devices_; }
  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] index_t replicas() const noexcept { return devices_ / count_; }

  /// Returns true if this process owns the device.
  [[nodiscard]] bool owns(index_t device) const noexcept {
    return own_devices_.empty() || owners_.owner_of(device) == self_;
  }
  /// Returns true if a device of this process holds the shard.
  [[nodiscard]] bool is_here(index_t shard) const noexcept {
    return own_devices_.empty() || own_devices_[static_cast<std::size_t>(shard)] >= 0;
  }
  /// Returns the number of shards that are here, and each of them, in ascending order.
  [[nodiscard]] index_t count_here() const noexcept {
    return own_devices_.empty() ? count_ : static_cast<index_t>(here_.size());
  }
  [[nodiscard]] index_t shard_here(index_t i) const noexcept {
    return own_devices_.empty() ? i : here_[static_cast<std::size_t>(i)];
  }

  /// Returns the shard that a device holds.
  [[nodiscard]] index_t shard_of(index_t device) const noexcept {
    return shards_.position_of(device);
  }
  /// Returns the number of a device among those that hold the same shard.
  [[nodiscard]] index_t replica_of(index_t device) const noexcept {
    return shards_.group_of(device);
  }
  /// Returns the first device of this process that holds a shard, or the first of all if none does.
  [[nodiscard]] index_t device_of(index_t shard) const noexcept {
    const bool is_own = !own_devices_.empty() && is_here(shard);
    return is_own ? own_devices_[static_cast<std::size_t>(shard)] : first_device_of(shard);
  }

  /// Returns the first device of a shard, whoever owns it.
  [[nodiscard]] index_t first_device_of(index_t shard) const noexcept {
    return shards_.member(0, shard);
  }

  /// Returns the part of the tensor that a device holds, and its global indices.
  [[nodiscard]] index_box box_of(index_t device) const noexcept;
  [[nodiscard]] held_box held_by(index_t device) const noexcept;

  /// Returns the extents of a shard, and the number of its elements. In exact layouts without halos
  /// all shards have the same size.
  [[nodiscard]] extents_desc extents_of_shard(index_t shard) const noexcept;
  [[nodiscard]] index_t size_of_shard(index_t shard) const noexcept;
  /// Returns the number of elements of the largest shard, and their bytes.
  [[nodiscard]] index_t largest_shard_size() const noexcept { return largest_size_; }
  [[nodiscard]] index_t bytes_per_device() const noexcept {
    return largest_size_ * size_of(tensor_.type);
  }

  /// Returns the bytes charged to a device: those of its own shard if the layout is uneven without
  /// halos, and of the largest shard otherwise.
  [[nodiscard]] index_t charged_to(index_t device) const noexcept;

  /// Returns true if both number their shards alike: then shard `s` of one depends only on shard
  /// `s` of the other.
  [[nodiscard]] bool numbers_like(const shard_table& other) const noexcept {
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
  /// By shard, the first of this process's devices that holds it, or -1; empty if there is one
  /// owner.
  internal::growable<index_t> own_devices_;
  /// The shards that are here.
  internal::growable<index_t> here_;
};

/// A table shared by tensors.
using shard_table_ptr = std::shared_ptr<const shard_table>;

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/tensor/shard_table_work.hpp"
#endif
