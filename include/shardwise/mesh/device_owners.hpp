// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/mesh/list_view.hpp"

namespace shardwise {

/// Which process owns each device of a mesh, as a borrowed list of owner numbers by device. Without
/// a list, owner 0 has all devices.
///
///     index_t list[] = {0, 0, 1, 1};
///     const device_owners two(list);        // owner 1 has devices 2 and 3
class device_owners {
 public:
  constexpr device_owners() = default;
  constexpr explicit device_owners(list_view<const index_t> by_device) noexcept
      : by_device_(by_device) {
    for (index_t owner : by_device)
      if (owner >= count_) count_ = owner + 1;
  }

  /// The number of owners.
  [[nodiscard]] constexpr index_t count() const noexcept { return count_; }
  [[nodiscard]] constexpr index_t owner_of(index_t device) const noexcept {
    return by_device_.empty() ? 0 : by_device_[device];
  }
  /// The owner of every device; empty if one owner has all.
  [[nodiscard]] constexpr list_view<const index_t> list() const noexcept { return by_device_; }

 private:
  list_view<const index_t> by_device_{};
  index_t count_ = 1;
};

}  // namespace shardwise
