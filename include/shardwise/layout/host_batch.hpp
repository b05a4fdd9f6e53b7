// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/shard.hpp"

namespace shardwise {

/// The layout of a batch that is loaded by several hosts. Each host loads its own rows (dimension
/// 0) and all of the other dimensions. The devices of the mesh belong to hosts in runs of equal
/// length, and a host has the rows of its own devices, in their global order.
///
/// Two hosts have the same rows if an axis that does not split the batch runs across them.
///
///     // 16 rows over 8 devices, 4 on each of two hosts
///     constexpr host_batch hosts(line, batch, 2);
///     static_assert(hosts.global({8, 7, 4}) == extents_desc{16, 7, 4});
///     static_assert(hosts.part({8, 7, 4}, 5)[0] == index_range{2, 4});      // of host 1's rows
class host_batch {
 public:
  /// `layout` must have at least one dimension, and every axis of `mesh` a known size.
  constexpr host_batch(const mesh_desc& mesh, const layout_desc& layout, index_t hosts) noexcept
      : mesh_(mesh), layout_(layout), hosts_(hosts), rows_(mesh, rows_of(layout)) {
    verdict_ = judge();
    if (verdict_.ok()) parts_ = count_parts(0);
  }

  /// Checks that hosts have equal numbers of devices, that any two of them share all of their rows
  /// or none, that parts are contiguous, and that nothing is pending.
  [[nodiscard]] constexpr const diagnosis& verdict() const noexcept { return verdict_; }

  [[nodiscard]] constexpr index_t hosts() const noexcept { return hosts_; }
  /// Return the range of devices of a host, and the host of a device.
  [[nodiscard]] constexpr index_range devices(index_t host) const noexcept {
    return {host * per_host(), (host + 1) * per_host()};
  }
  [[nodiscard]] constexpr index_t host_of(index_t device) const noexcept {
    return device / per_host();
  }
  /// Returns the number of parts into which the devices of one host split its batch.
  [[nodiscard]] constexpr index_t parts() const noexcept { return parts_; }
  /// Returns the first host that has the same rows as this one, which may be this one.
  [[nodiscard]] constexpr index_t first_with_rows_of(index_t host) const noexcept {
    return first_holder(rows_.position_of(devices(host).begin));
  }

  /// Checks the extents of the batch of one host: its rows divide into its parts, those of all
  /// hosts are no more than a tensor has, and the layout accepts the whole tensor.
  [[nodiscard]] constexpr diagnosis check(const extents_desc& batch) const noexcept {
    if (batch.ssize() != layout_.rank())
      return {
          .rule = violation::rank_differs_from_spec, .have = layout_.rank(), .want = batch.ssize()};
    if (batch[0] % parts() != 0)
      return {.rule = violation::host_batch_is_not_divisible,
              .dim = 0,
              .have = batch[0],
              .want = parts()};
    if (const index_t most = max_elements / rows_.size() * parts(); batch[0] > most)
      return {.rule = violation::tensor_is_too_large, .dim = 0, .have = batch[0], .want = most + 1};
    return shardwise::validate(mesh_, layout_, global(batch));
  }
  /// Checks that the rows of the whole tensor, if they are known, divide into the parts of the
  /// hosts.
  [[nodiscard]] constexpr diagnosis check_whole(const extents_desc& whole) const noexcept {
    if (whole[0] == dyn || whole[0] % rows_.size() == 0) return {};
    return {.rule = violation::host_batch_is_not_divisible,
            .dim = 0,
            .have = whole[0],
            .want = rows_.size()};
  }
  /// Returns the extents of the whole tensor, given those of the batch of one host, which `check`
  /// accepts.
  [[nodiscard]] constexpr extents_desc global(extents_desc batch) const noexcept {
    batch[0] = batch[0] / parts() * rows_.size();
    return batch;
  }
  /// Returns the extents of the batch of one host, given those of the whole tensor; `dyn` stays
  /// `dyn`.
  [[nodiscard]] constexpr extents_desc local(extents_desc whole) const noexcept {
    if (whole[0] != dyn) whole[0] = whole[0] / rows_.size() * parts();
    return whole;
  }
  /// Returns the part of the batch of its host that a device holds.
  [[nodiscard]] constexpr index_box part(const extents_desc& batch, index_t device) const noexcept {
    index_box own = shard_box(mesh_, layout_, global(batch), device);
    const index_t size = batch[0] / parts();
    const index_t place = place_of(rows_.position_of(device));
    own[0] = {place * size, (place + 1) * size};
    return own;
  }

 private:
  [[nodiscard]] static constexpr axis_list rows_of(const layout_desc& layout) noexcept {
    // Axis by axis, because g++ 12 cannot copy an empty list out of a constant.
    axis_list axes;
    if (!layout.dims.empty())
      for (std::uint8_t a : layout.dims[0]) axes.push_back(a);
    return axes;
  }
  [[nodiscard]] constexpr index_t per_host() const noexcept { return mesh_.devices() / hosts_; }

  /// Returns the first host that has this part of dimension 0; it is the same for all parts of a
  /// host.
  [[nodiscard]] constexpr index_t first_holder(index_t part) const noexcept {
    return host_of(rows_.member(0, part));
  }
  /// Returns the position of this part among those of its host.
  [[nodiscard]] constexpr index_t place_of(index_t part) const noexcept {
    index_t place = 0;
    for (index_t p = 0; p < part; ++p) place += first_holder(p) == first_holder(part) ? 1 : 0;
    return place;
  }
  [[nodiscard]] constexpr index_t count_parts(index_t first) const noexcept {
    index_t n = 0;
    for (index_t p = 0; p < rows_.size(); ++p) n += first_holder(p) == first ? 1 : 0;
    return n;
  }
  [[nodiscard]] constexpr bool holds(index_t host, index_t part) const noexcept {
    for (index_t d = devices(host).begin; d < devices(host).end; ++d)
      if (rows_.position_of(d) == part) return true;
    return false;
  }
  /// Returns true if a host has the same parts as the first host that has its first part.
  [[nodiscard]] constexpr bool is_like_first(index_t host) const noexcept {
    const index_t first = first_with_rows_of(host);
    for (index_t d = devices(host).begin; d < devices(host).end; ++d)
      if (first_holder(rows_.position_of(d)) != first) return false;
    for (index_t p = 0; p < rows_.size(); ++p)
      if (first_holder(p) == first && !holds(host, p)) return false;
    return count_parts(first) == count_parts(0);
  }

  [[nodiscard]] constexpr diagnosis judge() const noexcept {
    if (layout_.rank() == 0)
      return {.rule = violation::rank_differs_from_spec, .have = 0, .want = 1};
    for (int a = 0; a < mesh_.rank(); ++a)
      if (layout_.is_pending(a))
        return {.rule = violation::reshard_would_create_partial, .axis = mesh_.axes[a].label};
    for (int d = 0; d < layout_.rank(); ++d)
      if (!layout_.grains[d].is_contiguous() && !layout_.grains[d].is_single_cut())
        return {.rule = violation::host_batch_is_not_contiguous, .dim = d};
    if (hosts_ < 1 || mesh_.devices() % hosts_ != 0)
      return {.rule = violation::hosts_are_not_alike, .have = mesh_.devices(), .want = hosts_};
    for (index_t host = 0; host < hosts_; ++host)
      if (!is_like_first(host))
        return {.rule = violation::hosts_are_not_alike, .operand = static_cast<int>(host)};
    return {};
  }

  mesh_desc mesh_;
  layout_desc layout_;
  index_t hosts_;
  device_groups rows_;
  index_t parts_ = 1;
  diagnosis verdict_{};
};

}  // namespace shardwise
