// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/shard.hpp"
#include "shardwise/mesh/list_view.hpp"

namespace shardwise {

/// The devices whose shards are given, in the order of the devices: all of them or, without
/// replicas, the first device that holds each distinct shard.
class given_shards {
 public:
  constexpr given_shards(const mesh_desc& mesh, const layout_desc& layout, index_t count) noexcept
      : shards_(shards_of(mesh, layout)), devices_(mesh.devices()), count_(count) {}

  /// Checks the number of shards.
  [[nodiscard]] constexpr diagnosis verdict() const noexcept {
    if (count_ == devices_ || count_ == shards_.size()) return {};
    return {.rule = violation::shard_count_differs, .have = count_, .want = devices_};
  }
  /// Returns true if there is a shard for every device, including replicas.
  [[nodiscard]] constexpr bool for_all() const noexcept { return count_ == devices_; }

  /// Calls `f(number, device)` for each given shard and its device.
  template <class F>
  constexpr void for_each(const F& f) const {
    index_t number = 0;
    for (index_t device = 0; device < devices_; ++device)
      if (for_all() || shards_.group_of(device) == 0) f(number++, device);
  }

 private:
  device_groups shards_;
  index_t devices_;
  index_t count_;
};

/// The extents of a tensor made from shards, or the reason why there is none; `operand` of the
/// verdict is the number of the shard.
struct joined_shards {
  extents_desc extents{};
  diagnosis verdict{};
};

/// Returns the extents of a tensor made from shards with these extents. `extents` are those of the
/// tensor; a `dyn` extent is computed as the sum of the shards along its dimension. The extents of
/// a shard must match the part of its device; one of them may be `dyn` if it cannot be told from
/// its memory.
///
///     // 5 rows over x=2: shards of 3 and 2 rows
///     static_assert(join_shards(line, rows, {dyn}, shards).extents == extents_desc{5});
[[nodiscard]] constexpr joined_shards join_shards(const mesh_desc& mesh, const layout_desc& layout,
                                                  const extents_desc& extents,
                                                  list_view<const extents_desc> shards) noexcept {
  joined_shards out{extents, {}};
  const given_shards given(mesh, layout, shards.ssize());
  out.verdict = given.verdict();
  if (out.verdict.ok() && extents.ssize() != layout.rank())
    out.verdict = {
        .rule = violation::rank_differs_from_spec, .have = layout.rank(), .want = extents.ssize()};
  for (int i = 0; out.verdict.ok() && i < shards.ssize(); ++i) {
    out.verdict = validate(shards[i]);
    if (shards[i].ssize() != layout.rank())
      out.verdict = {.rule = violation::rank_differs_from_spec,
                     .have = layout.rank(),
                     .want = shards[i].ssize()};
    if (!out.verdict.ok()) out.verdict.operand = i;
  }
  if (!out.verdict.ok()) return out;

  for (int d = 0; d < layout.rank(); ++d) {
    if (extents[d] != dyn) continue;
    out.extents[d] = 0;
    // One device for each part: the first of those that differ only along other axes.
    const device_groups along(mesh, layout.dims[d]);
    given.for_each([&](index_t number, index_t device) {
      const index_t part = shards[number][d];
      // A sum that is too large for a tensor stays so, and is refused below.
      if (along.group_of(device) == 0 && part != dyn)
        out.extents[d] =
            part > max_elements - out.extents[d] ? max_elements + 1 : out.extents[d] + part;
    });
  }
  out.verdict = validate(mesh, layout, out.extents);
  if (!out.verdict.ok()) return out;
  given.for_each([&](index_t number, index_t device) {
    const extents_desc want = extents_of(shard_box(mesh, layout, out.extents, device));
    for (int d = 0; d < layout.rank() && out.verdict.ok(); ++d)
      if (shards[number][d] != dyn && shards[number][d] != want[d])
        out.verdict = {.rule = violation::shard_extents_differ,
                       .operand = static_cast<int>(number),
                       .dim = d,
                       .have = shards[number][d],
                       .want = want[d]};
  });
  return out;
}

}  // namespace shardwise
