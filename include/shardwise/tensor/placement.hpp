// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/strided.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <memory>

namespace shardwise {

/// Where the shards of one tensor are: distinct shards, their boxes, and the devices that hold
/// them.
///
/// Devices that hold the same elements share one shard; shards are numbered as in `shards_of`.
/// Tensors of one mesh, layout and shape share one placement, whose facts are computed once.
class placement {
 public:
  placement(const mesh_desc& mesh, const tensor_desc& tensor) noexcept
      : mesh_(mesh),
        tensor_(tensor),
        shards_(shards_of(mesh, tensor.layout)),
        count_(shards_.size()),
        devices_(mesh.devices()),
        largest_(largest_shard(mesh, tensor.layout, tensor.extents)),
        largest_size_(element_count(largest_)) {}

  [[nodiscard]] const mesh_desc& mesh() const noexcept { return mesh_; }
  [[nodiscard]] const tensor_desc& tensor() const noexcept { return tensor_; }

  /// The number of devices, of distinct shards, and of devices that hold each.
  [[nodiscard]] index_t devices() const noexcept { return devices_; }
  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] index_t replicas() const noexcept { return devices_ / count_; }

  /// The shard that a device holds, which of its replicas that is, and the first device of a shard.
  [[nodiscard]] index_t shard_of(index_t device) const noexcept {
    return shards_.position_of(device);
  }
  [[nodiscard]] index_t replica_of(index_t device) const noexcept {
    return shards_.group_of(device);
  }
  [[nodiscard]] index_t device_of(index_t shard) const noexcept { return shards_.member(0, shard); }

  /// The part of the tensor that a device holds, and which global indices that is.
  [[nodiscard]] box box_of(index_t device) const noexcept {
    return shard_box(mesh_, tensor_.layout, tensor_.extents, device);
  }
  [[nodiscard]] held_box held_by(index_t device) const noexcept {
    return held_of(mesh_, tensor_.layout, tensor_.extents, device);
  }

  /// The extents of a shard, and the number of its elements. Exact layouts have shards of one size.
  [[nodiscard]] extents_desc extents_of_shard(index_t shard) const noexcept {
    return tensor_.layout.uneven ? extents_of(box_of(device_of(shard))) : largest_;
  }
  [[nodiscard]] index_t size_of_shard(index_t shard) const noexcept {
    return tensor_.layout.uneven ? volume(box_of(device_of(shard))) : largest_size_;
  }
  /// The elements of the largest shard, and their bytes.
  [[nodiscard]] index_t largest_shard_size() const noexcept { return largest_size_; }
  [[nodiscard]] index_t bytes_per_device() const noexcept {
    return largest_size_ * size_of(tensor_.type);
  }

  /// True if both number their shards alike: step by step, shard `s` of one needs only shard `s` of
  /// the other.
  [[nodiscard]] bool numbers_like(const placement& other) const noexcept {
    return this == &other || (tensor_.layout.dims == other.tensor_.layout.dims &&
                              tensor_.layout.pending == other.tensor_.layout.pending &&
                              tensor_.layout.manual == other.tensor_.layout.manual);
  }

 private:
  mesh_desc mesh_;
  tensor_desc tensor_;
  device_groups shards_;
  index_t count_;
  index_t devices_;
  extents_desc largest_;
  index_t largest_size_;
};

/// A placement that tensors share.
using placement_ptr = std::shared_ptr<const placement>;

}  // namespace shardwise
