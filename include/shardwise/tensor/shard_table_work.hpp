// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/tensor/shard_table.hpp"

namespace shardwise {

SHARDWISE_INLINE shard_table::shard_table(const mesh_desc& mesh, const tensor_desc& tensor) noexcept
    : mesh_(mesh),
      tensor_(tensor),
      shards_(shards_of(mesh, tensor.layout)),
      count_(shards_.size()),
      devices_(mesh.devices()),
      largest_(largest_shard(mesh, tensor.layout, tensor.extents)),
      largest_size_(element_count(largest_)) {}

SHARDWISE_INLINE shard_table::shard_table(const mesh_desc& mesh, const tensor_desc& tensor,
                                          const device_owners& owners, index_t self)
    : shard_table(mesh, tensor) {
  owners_ = owners;
  self_ = self;
  const shard_owners holders(mesh, tensor.layout, owners);
  own_devices_.reserve(static_cast<std::size_t>(count_));
  for (index_t s = 0; s < count_; ++s) {
    own_devices_.push_back(holders.holder(s, self));
    if (own_devices_.back() >= 0) here_.push_back(s);
  }
}

SHARDWISE_INLINE index_box shard_table::box_of(index_t device) const noexcept {
  return shard_box(mesh_, tensor_.layout, tensor_.extents, device);
}

SHARDWISE_INLINE held_box shard_table::held_by(index_t device) const noexcept {
  return held_of(mesh_, tensor_.layout, tensor_.extents, device);
}

SHARDWISE_INLINE extents_desc shard_table::extents_of_shard(index_t shard) const noexcept {
  return has_one_size() ? largest_ : extents_of(box_of(device_of(shard)));
}

SHARDWISE_INLINE index_t shard_table::size_of_shard(index_t shard) const noexcept {
  return has_one_size() ? largest_size_ : volume_of(box_of(device_of(shard)));
}

SHARDWISE_INLINE index_t shard_table::charged_to(index_t device) const noexcept {
  const bool is_own = tensor_.layout.uneven && !tensor_.layout.has_halo();
  return is_own ? size_of(tensor_.type) * volume_of(box_of(device)) : bytes_per_device();
}

}  // namespace shardwise
