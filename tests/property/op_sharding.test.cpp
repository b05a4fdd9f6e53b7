// SPDX-License-Identifier: BSL-1.0
// Every mesh of up to four axes, every partition spec of rank at most three, and devices in any
// order: types, tiles, groups, texts and shards equal those of arrays of numbers that are
// transposed and cut.
#include "support/catch.hpp"
#include "support/paper.hpp"
#include "support/watched.hpp"
#include <shardwise/mesh/group.hpp>
#include <shardwise/notation.hpp>

#include <algorithm>
#include <numeric>
#include <string>

using namespace shardwise;

namespace {

using indices = std::vector<index_t>;

/// A row-major array of numbers.
struct array {
  indices shape{};
  indices data{};

  [[nodiscard]] array reshaped(const indices& to) const { return {to, data}; }
  /// Dimension `d` of the result is dimension `order[d]` of this.
  [[nodiscard]] array transposed(const std::vector<std::size_t>& order) const {
    array result;
    for (std::size_t d : order) result.shape.push_back(shape[d]);
    for (std::size_t i = 0; i < data.size(); ++i) {
      indices at(shape.size());
      std::size_t rest = i;
      for (std::size_t d = order.size(); d-- > 0;) {
        at[order[d]] = static_cast<index_t>(rest) % result.shape[d];
        rest /= static_cast<std::size_t>(result.shape[d]);
      }
      index_t source = 0;
      for (std::size_t d = 0; d < shape.size(); ++d) source = source * shape[d] + at[d];
      result.data.push_back(data[static_cast<std::size_t>(source)]);
    }
    return result;
  }
};

/// A mesh, a layout on it, and the order of its devices.
struct subject {
  const mesh_desc& mesh;
  const layout_desc& layout;
  const indices& ids;
};

/// The devices tile by tile: first the axes that split, entry by entry, then the others.
struct tiled {
  indices dims{};        // one for each dimension of the tensor
  index_t replicas = 1;  // devices of a tile
  indices devices{};
  int split = 0;  // entries that name axes
  int left = 0;   // axes that none names
};

tiled cut(const subject& one) {
  const auto& [mesh, layout, ids] = one;
  array devices{{}, ids};
  for (const axis_desc& axis : mesh.axes) devices.shape.push_back(axis.size);
  tiled result;
  std::vector<std::size_t> order;
  for (const axis_list& dim : layout.dims) {
    index_t parts = 1;
    for (std::uint8_t a : dim) {
      order.push_back(a);
      parts *= mesh.size(a);
    }
    result.dims.push_back(parts);
    if (!dim.empty()) ++result.split;
  }
  for (std::size_t a = 0; a < mesh.axes.size(); ++a)
    if (std::find(order.begin(), order.end(), a) == order.end()) {
      order.push_back(a);
      result.replicas *= mesh.size(static_cast<int>(a));
      ++result.left;
    }
  indices shape = result.dims;
  shape.push_back(result.replicas);
  result.devices = devices.transposed(order).reshaped(shape).data;
  return result;
}

sharding_type type_of(const subject& one, const tiled& tiles) {
  const int rank = one.layout.rank();
  if (rank == 0) return sharding_type::replicated;
  if (tiles.split + tiles.left > rank) return sharding_type::partial;
  if (one.ids.size() == 1) return sharding_type::maximal;
  if (tiles.split == 0) return sharding_type::replicated;
  return tiles.split < rank ? sharding_type::partial : sharding_type::tiled;
}

std::string joined(const indices& numbers) {
  std::string words;
  for (index_t n : numbers) words += (words.empty() ? "" : ",") + std::to_string(n);
  return words;
}

/// The devices, with those of each tile in ascending order.
indices sorted_in_tiles(const tiled& tiles) {
  indices devices = tiles.devices;
  for (auto first = devices.begin(); first != devices.end(); first += tiles.replicas)
    std::sort(first, first + tiles.replicas);
  return devices;
}

/// The text that lists every device.
std::string listed(const tiled& tiles) {
  if (static_cast<std::size_t>(tiles.replicas) == tiles.devices.size()) return "{replicated}";
  indices dims = tiles.dims;
  if (tiles.replicas > 1) dims.push_back(tiles.replicas);
  return "{devices=[" + joined(dims) + "]" + joined(sorted_in_tiles(tiles)) +
         (tiles.replicas > 1 ? " last_tile_dim_replicate}" : "}");
}

/// The devices of an order: 0, 1, 2, ... as a transposed box.
indices expanded(const iota_order& order) {
  array box;
  for (index_t size : order.sizes) box.shape.push_back(size);
  box.data.resize(static_cast<std::size_t>(order.count()));
  std::iota(box.data.begin(), box.data.end(), index_t{0});
  return box.transposed({order.order.begin(), order.order.end()}).data;
}

std::string text_of(const hlo_sharding& sharding) {
  bounded_text<2000> out;
  write_hlo(out, sharding);
  return out.c_str();
}

/// The spec with the numbers of axes instead of their names.
std::string numbered(const layout_desc& layout) {
  std::string words = "(";
  for (const axis_list& dim : layout.dims) {
    if (dim.empty()) words += "None";
    if (dim.size() > 1) words += "(";
    for (int i = 0; i < dim.ssize(); ++i) words += (i > 0 ? "," : "") + std::to_string(dim[i]);
    words += dim.size() > 1 ? ")," : ",";
  }
  return words + ")";
}

/// Returns the first property that does not hold, or nothing.
std::string what_fails(const subject& one, paper::numbers& random) {
  const auto& [mesh, layout, ids] = one;
  const tiled tiles = cut(one);
  const auto count = static_cast<index_t>(ids.size());
  const index_t groups = count / tiles.replicas;
  const auto device_at = [&](index_t i) { return tiles.devices[static_cast<std::size_t>(i)]; };
  tile_list<600> memory;
  const device_view view = is_plain(ids) && random(2) == 0 ? device_view{} : device_view(ids);

  // A spec by the numbers of axes.
  layout_desc even = layout;
  even.follow(exact{});
  if (!(parse_partition_spec(numbered(layout), mesh).layout == even)) return "numbers of axes";

  // The sharding that a front end derives.
  const op_result op = to_op_sharding(mesh, layout, view);
  if (!op.verdict.ok()) return "refused";
  if (op.sharding.type != type_of(one, tiles)) return "type";
  if (!std::equal(tiles.dims.begin(), tiles.dims.end(), op.sharding.dims.begin(),
                  op.sharding.dims.end()))
    return "tile dims";
  if (op.sharding.group_size != tiles.replicas || op.sharding.group_count() != groups)
    return "sizes of groups";
  if (op.sharding.is_replicated() != (groups == 1)) return "replication";
  for (index_t i = 0; i < count; ++i) {
    if (op.sharding.member(i / tiles.replicas, i % tiles.replicas) != device_at(i)) return "groups";
    if (op.sharding.replica_of(device_at(i)) != i % tiles.replicas) return "number of a replica";
  }

  // Lists and orders.
  const hlo_result hlo = to_hlo(mesh, layout, memory.buffer, view);
  const hlo_result list = to_list(hlo.sharding, memory.buffer);
  if (!hlo.verdict.ok() || !list.verdict.ok()) return "no tiles";
  const std::string want = listed(tiles);
  if (text_of(list.sharding) != want) return "list: " + text_of(list.sharding) + ", not " + want;
  const hlo_sharding ordered = to_iota(list.sharding);
  const indices sorted = sorted_in_tiles(tiles);
  if (ordered.kind == hlo_kind::tiled && !ordered.tiles.is_list()) {
    const iota_order& order = ordered.tiles.order;
    if (expanded(order) != sorted) return "order: " + text_of(ordered);
    for (int d = 0; d < order.sizes.ssize(); ++d) {
      if (order.sizes[d] == 1 && count > 1) return "a size of 1: " + text_of(ordered);
      if (d > 0 && order.order[d] == order.order[d - 1] + 1) return "neighbours stay";
    }
  } else if (is_plain(ids) && ordered.kind == hlo_kind::tiled) {
    return "no order";
  }
  for (const hlo_sharding& form : {hlo.sharding, list.sharding, ordered}) {
    const std::string words = text_of(form);
    const hlo_result again = parse_hlo(words, memory.buffer);
    if (!again.verdict.ok() || text_of(again.sharding) != words) return words + " is not read back";
    if (!same_placement(again.sharding, list.sharding)) return words + " is another placement";
  }

  // If two devices with different tiles are exchanged, the placement differs.
  if (list.sharding.kind == hlo_kind::tiled) {
    indices swapped = sorted;
    const index_t a = random(count), b = random(count);
    std::swap(swapped[static_cast<std::size_t>(a)], swapped[static_cast<std::size_t>(b)]);
    hlo_sharding other = list.sharding;
    other.tiles.list = swapped;
    const bool same = a / tiles.replicas == b / tiles.replicas;
    if (same_placement(other, hlo.sharding) != same) return "equality";
    if (same_placement(hlo.sharding, other) != same) return "equality is not mutual";
  }

  // Shards, including short and empty ones.
  extents_desc extents;
  for (int d = 0; d < layout.rank(); ++d) extents.push_back(random(8));
  const extents_desc padded = padded_shape(hlo.sharding, extents);
  for (index_t i = 0; i < count; ++i) {
    const index_t device = sorted[static_cast<std::size_t>(i)];
    const hlo_shard shard = shard_of(hlo.sharding, extents, device);
    index_t tile = i / tiles.replicas;
    for (int d = layout.rank() - 1; d >= 0; --d) {
      const index_t parts = tiles.dims[static_cast<std::size_t>(d)];
      index_t length = 0;  // the least that suffices
      while (length * parts < extents[d]) ++length;
      const index_t at = tile % parts;
      const index_range range{std::min(at * length, extents[d]),
                              std::min((at + 1) * length, extents[d])};
      if (!(shard.part[d] == range)) return "indices of device " + std::to_string(device);
      if (padded[d] != length) return "padding";
      tile /= parts;
    }
    // The layout cuts as its tiles do.
    if (is_plain(ids)) {
      const index_box own = shard_box(mesh, layout, extents, device);
      for (int d = 0; d < layout.rank(); ++d)
        if (!(own[d] == shard.part[d])) return "the layout's own shard";
    }
    const bool whole = hlo.sharding.kind == hlo_kind::replicated;
    if (shard.replica != (whole ? device : i % tiles.replicas)) return "replica of a shard";
  }

  // The communication groups along the axes of one dimension.
  for (const axis_list& dim : layout.dims) {
    tile_list<600> room;
    array devices{{}, ids};
    std::vector<std::size_t> order;
    for (const axis_desc& axis : mesh.axes) devices.shape.push_back(axis.size);
    for (std::size_t a = 0; a < mesh.axes.size(); ++a)
      if (!dim.contains(static_cast<std::uint8_t>(a))) order.push_back(a);
    for (std::uint8_t a : dim) order.push_back(a);
    const indices members = devices.transposed(order).data;
    const groups_result talk = to_groups(mesh, dim, room.buffer, view);
    const device_groups own(mesh, dim);
    if (talk.groups.count() != own.count() || talk.groups.size() != own.size())
      return "collective: sizes";
    for (index_t i = 0; i < count; ++i) {
      const index_t group = i / own.size(), position = i % own.size();
      const index_t want_member = members[static_cast<std::size_t>(i)];
      if (talk.groups.member(group, position) != want_member) return "collective: members";
      if (ids[static_cast<std::size_t>(own.member(group, position))] != want_member)
        return "collective: own members";
    }
    for (const replica_groups& form :
         {talk.groups, to_iota(talk.groups), to_list(talk.groups, room.buffer).groups}) {
      bounded_text<1000> words;
      write_groups(words, form);
      if (!same_groups(parse_groups(words, room.buffer).groups, talk.groups))
        return "collective: text";
    }
  }
  return {};
}

/// Tests every layout of every mesh, each with `orders` orders of devices: the natural one, then
/// shuffled ones; only every `step`-th mesh is tested.
index_t test_all(int axes, index_t largest, int orders, std::size_t step = 1) {
  paper::numbers random(static_cast<std::uint64_t>(axes * 10 + largest));
  const std::vector<mesh_desc> meshes = paper::meshes(axes, largest);
  index_t tested = 0;
  for (int rank = 0; rank <= 3; ++rank) {
    std::vector<layout_desc> layouts = paper::layouts(axes, rank);
    for (layout_desc& layout : layouts) layout.follow(single_cut{});
    for (std::size_t m = 0; m < meshes.size(); m += step) {
      indices ids(static_cast<std::size_t>(meshes[m].devices()));
      std::iota(ids.begin(), ids.end(), index_t{0});
      for (int order = 0; order < orders; ++order) {
        for (const layout_desc& layout : layouts) {
          const std::string failure = what_fails({meshes[m], layout, ids}, random);
          ++tested;
          if (failure.empty()) continue;
          message_text words;
          write_layout(words, meshes[m], layout) << " on " << meshes[m];
          FAIL(failure << ": " << words.c_str() << ", devices " << joined(ids));
        }
        for (std::size_t i = ids.size(); i > 1; --i)
          std::swap(ids[i - 1], ids[static_cast<std::size_t>(random(index_t(i)))]);
      }
    }
  }
  return tested;
}

}  // namespace

TEST_CASE("tiles of meshes of up to two axes, in many orders of devices") {
  CHECK(test_all(0, 1, 1) == 4);
  CHECK(test_all(1, 4, 6) == 6 * 4 * (1 + 2 + 3 + 4));
  CHECK(test_all(2, 4, 6) > 1000);
}
TEST_CASE("tiles of meshes of three axes, in some orders of devices") {
  CHECK(test_all(3, 3, 3) > 10000);
}
TEST_CASE("tiles of meshes of four axes") {
  if (!support::is_watched) CHECK(test_all(4, 2, 2) > 30000);
  CHECK(test_all(4, 3, 2, 7) > 20000);
}
