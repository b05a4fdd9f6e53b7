// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/rule/operation.hpp"

namespace shardwise {

/// The cost of a program on one device: collectives by kind and axis, the bytes that it receives,
/// floating-point operations, and the peak memory of its tensors.
///
/// A collective over several axes is counted once in total and once for each of its axes; its bytes
/// are attributed to the axes as in a hierarchical algorithm. Slices, and collectives over axes of
/// size 1, move nothing and are not counted. Sizes are those of the largest shard.
class cost_ledger {
 public:
  constexpr cost_ledger() = default;
  constexpr explicit cost_ledger(const mesh_desc& mesh) noexcept : mesh_(mesh) {}

  /// Returns the number of collectives: all, of one kind, over one axis, or of one kind over one
  /// axis.
  [[nodiscard]] constexpr index_t collectives() const noexcept {
    index_t n = 0;
    for (int k = 1; k < collective_count; ++k) n += counts_[k];
    return n;
  }
  [[nodiscard]] constexpr index_t collectives(collective kind) const noexcept {
    return counts_[static_cast<unsigned>(kind)];
  }
  [[nodiscard]] constexpr index_t collectives(text_view axis) const {
    index_t n = 0;
    for (int k = 1; k < collective_count; ++k) n += collectives(static_cast<collective>(k), axis);
    return n;
  }
  [[nodiscard]] constexpr index_t collectives(collective kind, text_view axis) const {
    return axis_counts_[static_cast<unsigned>(kind)][number_of(axis)];
  }

  /// Returns the bytes that a device receives: in total, by kind, over one axis, or by kind over
  /// one axis.
  [[nodiscard]] constexpr index_t bytes_moved() const noexcept {
    index_t n = 0;
    for (const auto& row : bytes_)
      for (index_t b : row) n = size_sum(n, b);
    return n;
  }
  [[nodiscard]] constexpr index_t bytes_moved(collective kind) const noexcept {
    index_t n = 0;
    for (index_t b : bytes_[static_cast<unsigned>(kind)]) n = size_sum(n, b);
    return n;
  }
  [[nodiscard]] constexpr index_t bytes_moved(text_view axis) const {
    index_t n = 0;
    for (int k = 0; k < collective_count; ++k)
      n = size_sum(n, bytes_moved(static_cast<collective>(k), axis));
    return n;
  }
  [[nodiscard]] constexpr index_t bytes_moved(collective kind, text_view axis) const {
    return bytes_[static_cast<unsigned>(kind)][number_of(axis)];
  }

  /// Returns the floating-point operations of one device.
  [[nodiscard]] constexpr index_t flops() const noexcept { return flops_; }
  /// Returns the peak number of bytes of the program's tensors on one device.
  [[nodiscard]] constexpr index_t peak_bytes_per_device() const noexcept { return peak_; }
  [[nodiscard]] constexpr const mesh_desc& mesh() const noexcept { return mesh_; }

  /// Adds the cost of an operation.
  constexpr void count(const operation_cost& cost) noexcept {
    flops_ += cost.flops;
    // Over axes of size 1 there is no communication.
    if (!cost.is_collective || mesh_.parts(cost.axes) == 1) return;
    const auto kind = static_cast<unsigned>(cost.moved);
    ++counts_[kind];
    for (int i = 0; i < cost.axes.ssize(); ++i) {
      ++axis_counts_[kind][cost.axes[i]];
      index_t& bytes = bytes_[kind][cost.axes[i]];
      bytes = size_sum(bytes, cost.bytes[i]);
    }
  }
  /// Adds a step that only computes.
  constexpr void count_flops(index_t flops) noexcept { flops_ += flops; }
  /// Records the number of bytes that are live on each device.
  constexpr void note_live(index_t bytes) noexcept { peak_ = bytes > peak_ ? bytes : peak_; }

  /// Adds a program that runs while `held` other bytes are live.
  constexpr void add(const cost_ledger& inner, index_t held) noexcept {
    for (int k = 0; k < collective_count; ++k) {
      // A small step takes less time than to add up its zeros.
      if (inner.counts_[k] == 0) continue;
      counts_[k] += inner.counts_[k];
      for (std::size_t a = 0; a < max_axes; ++a) {
        axis_counts_[k][a] += inner.axis_counts_[k][a];
        bytes_[k][a] = size_sum(bytes_[k][a], inner.bytes_[k][a]);
      }
    }
    flops_ += inner.flops_;
    note_live(held + inner.peak_);
  }

  friend constexpr bool operator==(const cost_ledger&, const cost_ledger&) = default;

 private:
  [[nodiscard]] constexpr std::size_t number_of(text_view axis) const {
    const int a = mesh_.find(axis);
    if (a < 0) fail({.rule = violation::axis_is_not_in_mesh, .axis = short_name(axis)});
    return static_cast<std::size_t>(a);
  }

  mesh_desc mesh_{};
  index_t counts_[collective_count]{};
  index_t axis_counts_[collective_count][max_axes]{};
  index_t bytes_[collective_count][max_axes]{};
  index_t flops_ = 0;
  index_t peak_ = 0;
};

}  // namespace shardwise
