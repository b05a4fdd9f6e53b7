// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "support/paper.hpp"

#include <algorithm>

using namespace paper;

namespace {

/// The reference: the elements of one dimension that a device holds, computed by cutting lists.
std::vector<index_t> cut(const mesh_desc& mesh, const axis_list& axes, index_t size,
                         const coordinates& where) {
  std::vector<index_t> held;
  for (index_t i = 0; i < size; ++i) held.push_back(i);
  for (std::uint8_t a : axes) {
    const auto n = static_cast<index_t>(held.size());
    index_t chunk = 0;
    while (chunk * mesh.size(a) < n) ++chunk;
    std::vector<index_t> kept;
    for (index_t i = 0; i < n; ++i)
      if (chunk > 0 && i / chunk == where[a]) kept.push_back(held[static_cast<std::size_t>(i)]);
    held = kept;
  }
  return held;
}

/// True if the shards of a layout cover every element once for each replica, and replicas are
/// equal.
bool partitions(const mesh_desc& mesh, const layout_desc& layout, const extents_desc& extents) {
  const device_groups shards = shards_of(mesh, layout);
  const index_t copies = shards.count() * mesh.parts(layout.pending_axes());
  std::vector<index_t> owners(static_cast<std::size_t>(element_count(extents)), 0);
  for (index_t device = 0; device < mesh.devices(); ++device) {
    const index_box part = shard_box(mesh, layout, extents, device);
    const index_t first = shards.member(0, shards.position_of(device));
    if (!(part == shard_box(mesh, layout, extents, first))) return false;
    for (index_t i = 0; i < volume_of(part); ++i) {
      index_t rest = i;
      index_t at = 0;
      index_t stride = 1;
      for (int d = part.ssize() - 1; d >= 0; --d) {
        at += (part[d].begin + rest % part[d].size()) * stride;
        rest /= part[d].size();
        stride *= extents[d];
      }
      ++owners[static_cast<std::size_t>(at)];
    }
  }
  for (index_t n : owners)
    if (n != copies) return false;
  return true;
}

}  // namespace

TEST_CASE("a range is what cutting lists leaves") {
  for (int axes = 1; axes <= 3; ++axes)
    for (const mesh_desc& mesh : meshes(axes))
      for (const layout_desc& layout : layouts(axes, 1))
        for (index_t size = 0; size <= 13; ++size)
          for (index_t device = 0; device < mesh.devices(); ++device) {
            const coordinates where = mesh.at(device);
            const index_range range = split_range(mesh, layout.dims[0], size, where);
            const std::vector<index_t> held = cut(mesh, layout.dims[0], size, where);
            const auto n = static_cast<index_t>(held.size());
            if (range.size() != n || range.begin < 0 || range.end > size ||
                (n > 0 && range.begin != held.front())) {
              CAPTURE(show(mesh, {element::f32, {size}, layout}), device);
              REQUIRE(range.size() == n);
              REQUIRE((n == 0 || range.begin == held.front()));
              FAIL("the range leaves the dimension");
            }
          }
}

TEST_CASE("shards cover every element once for each replica") {
  index_t tried = 0;
  const auto law = [&](const mesh_desc& mesh, const layout_desc& layout,
                       const extents_desc& extents) {
    ++tried;
    if (partitions(mesh, layout, extents)) return;
    CAPTURE(show(mesh, {element::f32, extents, layout}));
    FAIL("not covered");
  };
  for (int axes = 0; axes <= 3; ++axes)
    for (const mesh_desc& mesh : meshes(axes)) {
      for (const layout_desc& layout : layouts(axes, 0, true)) law(mesh, layout, {});
      for (const layout_desc& layout : layouts(axes, 1, true))
        for (index_t n = 0; n <= 7; ++n) law(mesh, layout, {n});
      if (axes == 3 && mesh.devices() > 12) continue;
      for (const layout_desc& layout : layouts(axes, 2))
        for (index_t n = 0; n <= 7; ++n) {
          law(mesh, layout, {n, 5});
          law(mesh, layout, {2, n});
        }
      for (const layout_desc& layout : layouts(axes, 3))
        for (index_t n = 0; n <= 7; ++n) law(mesh, layout, {n, 3, (n * 5) % 8});
    }
  CHECK(tried > 30000);
}

TEST_CASE("the first device holds the largest shard") {
  for (const mesh_desc& mesh : meshes(3))
    for (const layout_desc& layout : layouts(3, 2))
      for (index_t n = 0; n <= 7; ++n) {
        const extents_desc extents{n, 5};
        const extents_desc largest = largest_shard(mesh, layout, extents);
        REQUIRE(largest == extents_of(shard_box(mesh, layout, extents, 0)));
        const extents_desc last = extents_of(shard_box(mesh, layout, extents, mesh.devices() - 1));
        REQUIRE((last[0] <= largest[0] && last[1] <= largest[1]));
      }
}

TEST_CASE("devices and coordinates, groups and members are each other's inverse") {
  for (int axes = 0; axes <= 3; ++axes)
    for (const mesh_desc& mesh : meshes(axes)) {
      for (index_t device = 0; device < mesh.devices(); ++device)
        REQUIRE(mesh.device(mesh.at(device)) == device);
      for (const layout_desc& layout : layouts(axes, 1)) {
        const device_groups groups(mesh, layout.dims[0]);
        REQUIRE(groups.count() * groups.size() == mesh.devices());
        for (index_t device = 0; device < mesh.devices(); ++device) {
          const index_t group = groups.group_of(device);
          const index_t position = groups.position_of(device);
          REQUIRE(
              (group >= 0 && group < groups.count() && position >= 0 && position < groups.size()));
          REQUIRE(groups.member(group, position) == device);
        }
      }
    }
}

TEST_CASE("replicas and shards number the devices once each") {
  for (const mesh_desc& mesh : meshes(3))
    for (const layout_desc& layout : layouts(3, 2, true)) {
      const device_groups shards = shards_of(mesh, layout);
      std::vector<int> seen(static_cast<std::size_t>(mesh.devices()), 0);
      for (index_t replica = 0; replica < shards.count(); ++replica)
        for (index_t shard = 0; shard < shards.size(); ++shard)
          ++seen[static_cast<std::size_t>(shards.member(replica, shard))];
      for (int times : seen) REQUIRE(times == 1);
    }
}

TEST_CASE("a packed layout is the layout") {
  std::vector<std::uint64_t> keys;
  for (int rank = 0; rank <= 3; ++rank)
    for (layout_desc layout : layouts(3, rank, true))
      for (int kind = 0; kind < reduction_count; ++kind)
        for (bool uneven : {false, true}) {
          if (layout.pending == 0 && kind > 0) continue;
          layout.kind = static_cast<reduction>(kind);
          layout.uneven = uneven;
          REQUIRE(unpack(pack(layout)) == layout);
          keys.push_back(pack(layout));
        }
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

TEST_CASE("a layout that is written as a spec is read as the layout") {
  const mesh_desc mesh = meshes(3)[5];
  for (int rank = 0; rank <= 3; ++rank)
    for (const layout_desc& layout : layouts(3, rank, true)) {
      internal::joined_axes entries[3];
      spec_desc spec;
      for (int d = 0; d < rank; ++d) {
        entries[d] = internal::join(mesh, internal::pack(layout.dims[d]));
        spec.dims.push_back(entries[d]);
      }
      const internal::joined_axes pending =
          internal::join(mesh, internal::pack(layout.pending_axes()));
      const resolved_layout resolved = resolve(mesh, spec, {pending}, uneven{});
      REQUIRE(resolved.verdict.ok());
      // Nothing is pending over one device.
      layout_desc want = layout;
      want.pending = static_cast<std::uint8_t>(internal::axes_of_several(mesh, layout.pending));
      if (want.pending == 0) want.kind = reduction::sum;
      REQUIRE(resolved.layout == want);
    }
}
