// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/any_block.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstddef>
#include <span>

namespace shardwise::internal {

/// Cached views of the parts of tensors that one device reads in each run of a program. Only the
/// addresses of some tensors differ between runs, and repeated look-ups would be expensive for
/// small tensors.
class noted_views {
 public:
  /// Adds the view that a device has of the tensor in a slot, which must be allocated. `is_fixed`
  /// states that it keeps its memory.
  void add(const node_ptr& slot, index_t device, const const_any_block& view, bool is_fixed) {
    const tensor_node& from = *slot;
    const index_t place = from.where().shard_of(device);
    const auto* const data = static_cast<const std::byte*>(view.data);
    if (!is_fixed)
      moving_.push_back(
          {views_.size(), &slot, place, view.size() == 0 ? 0 : data - from.shard(place).data()});
    views_.push_back(view);
  }
  /// Adds a block that is written before it is read, whose memory is set for each run.
  void add(const const_any_block& block) { views_.push_back(block); }

  /// Returns the views, with the current memory of the tensors.
  [[nodiscard]] std::span<const_any_block> now() noexcept {
    for (const origin& at : moving_)
      views_[at.view].data = (*at.slot)->shard(at.place).data() + at.offset;
    return views_;
  }

 private:
  struct origin {
    std::size_t view;
    const node_ptr* slot;
    index_t place;
    index_t offset;
  };

  growable<const_any_block> views_;
  /// The origins of views of tensors without fixed memory.
  growable<origin> moving_;
};

}  // namespace shardwise::internal
