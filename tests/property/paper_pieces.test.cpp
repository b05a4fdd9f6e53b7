// SPDX-License-Identifier: BSL-1.0
#include "property/generated.hpp"
#include "support/catch.hpp"

#include <set>

using namespace generated;

namespace {

/// The positions of the elements of a device among all elements of a tensor.
std::set<index_t> places(const mesh_desc& mesh, const tensor_desc& tensor, index_t device) {
  const held_box part = held_of(mesh, tensor.layout, tensor.extents, device);
  std::set<index_t> all{0};
  for (int d = 0; d < part.ssize(); ++d) {
    std::set<index_t> next;
    for (index_t outer : all)
      for (index_t x = 0; x < part[d].size(); ++x)
        next.insert(outer * tensor.extents[d] + part[d].global(x));
    all = next;
  }
  return all;
}

bool is_exact(const mesh_desc& mesh, const tensor_desc& tensor, const layout_desc& layout) {
  for (int d = 0; d < layout.rank(); ++d)
    if (!layout.grains[d].is_contiguous() || tensor.extents[d] % mesh.parts(layout.dims[d]) != 0)
      return false;
  return true;
}

/// Compares the pieces of one collective with the elements that devices hold.
void check_move(const mesh_desc& mesh, const tensor_desc& before, const planned_transfer& move) {
  tensor_desc after = before;
  after.layout = move.after;
  const collective_peers peers(mesh, before.layout, move);
  for (index_t to = 0; to < mesh.devices(); ++to) {
    const std::set<index_t> mine = places(mesh, after, to);
    index_t elements[2] = {0, 0};
    for_each_piece(mesh, before, move, to, [&](const shard_piece& p) {
      REQUIRE(p.to == to);
      elements[p.round] += p.elements;
      if (move.kind == collective::all_reduce) return;
      index_t common = 0;
      for (index_t place : places(mesh, before, p.from)) common += mine.contains(place) ? 1 : 0;
      REQUIRE(p.elements == common);
    });
    const auto size = static_cast<index_t>(mine.size());
    if (move.kind == collective::all_reduce) {
      const index_t own = reduced_at(peers.position_of(to), peers.count(), size).size();
      REQUIRE(elements[0] == own * peers.count());
      REQUIRE(elements[1] == size);
    } else {
      REQUIRE(elements[0] == (peers.reduces() ? size * peers.count() : size));
    }
    const auto bytes = piece_bytes(mesh, before, move, to);
    // An all_reduce cuts the shard into equal parts. In a permutation, some devices keep theirs.
    const bool even = is_exact(mesh, before, before.layout) && is_exact(mesh, before, move.after) &&
                      (move.kind != collective::all_reduce || size % peers.count() == 0);
    for (int i = 0; i < bytes.ssize(); ++i)
      if (even && move.kind != collective::slice && move.kind != collective::collective_permute)
        REQUIRE(bytes[i] == move.bytes[i]);
    index_t sum = 0;
    for (index_t b : bytes) sum += b;
    INFO(to_text(mesh, before) << " -> " << to_text(mesh, after) << " by " << to_text(move.kind)
                               << " on device " << to);
    CHECK(sum <= move.total_bytes());
  }
}

}  // namespace

TEST_CASE("pieces are what devices have in common, and no device is charged less than it gets") {
  for (const mesh_desc& mesh : meshes({{2}, {3}, {2, 2}, {3, 2}, {2, 2, 2}})) {
    const bool large = mesh.rank() == 3;
    for (const extents_desc& extents :
         {extents_desc{5, 3}, extents_desc{8, 4}, extents_desc{1, 0}}) {
      const auto all = large
                           ? layouts(mesh, 2, true)
                           : grained_layouts(mesh, 2, true, {grain::cyclic(1), grain::strided(2)});
      std::size_t number = 0;
      for (const layout_desc& source : all)
        for (const layout_desc& target : all) {
          if (++number % (large ? 29 : 7) != 0) continue;
          const redistribution way = redistribute(mesh, {element::f32, extents, source}, target);
          if (!way.verdict.ok()) continue;
          tensor_desc now{element::f32, extents, source};
          for (const planned_transfer& move : way.moves) {
            check_move(mesh, now, move);
            now.layout = move.after;
          }
        }
    }
  }
}

TEST_CASE("an all_reduce of few elements over several axes is charged what a device gets") {
  for (const mesh_desc& mesh : meshes({{4, 4}, {3, 5}, {2, 3, 4}})) {
    layout_desc pending = layout_of(mesh, spec_desc{{""}});
    const layout_desc whole = pending;
    for (int a = 0; a < mesh.rank(); ++a)
      pending.pending = static_cast<std::uint8_t>(pending.pending | 1U << a);
    for (index_t size = 0; size < 50; ++size) {
      const tensor_desc sum{element::f32, {size}, pending};
      const redistribution way = redistribute(mesh, sum, whole);
      REQUIRE(way.moves.size() == 1);
      check_move(mesh, sum, way.moves[0]);
      // 15 terms for the device that has the sum of a scalar's group.
      if (size == 1 && mesh.devices() == 16) REQUIRE(way.moves[0].total_bytes() == 60);
    }
  }
}

TEST_CASE("what crosses owners is what their devices lack, element by element") {
  numbers random(5);
  for (const mesh_desc& mesh : meshes({{3}, {2, 2}, {3, 2}})) {
    const auto all = grained_layouts(mesh, 2, false, {grain::cyclic(1), grain::strided(2)});
    std::size_t number = 0;
    for (const layout_desc& source : all)
      for (const layout_desc& target : all) {
        if (++number % 11 != 0) continue;
        std::vector<index_t> owner_of;
        for (index_t d = 0; d < mesh.devices(); ++d) owner_of.push_back(random.below(3));
        const device_owners owners{list_view<const index_t>(owner_of)};
        tensor_desc now{element::f32, {5, 3}, source};
        for (const planned_transfer& move : redistribute(mesh, now, target).moves) {
          tensor_desc after = now;
          after.layout = move.after;
          for (index_t owner = 0; owner < owners.count(); ++owner) {
            std::set<index_t> present;
            std::set<std::set<index_t>> wanted;
            for (index_t d = 0; d < mesh.devices(); ++d) {
              if (owners.owner_of(d) != owner) continue;
              present.merge(places(mesh, now, d));
              wanted.insert(places(mesh, after, d));
            }
            index_t lacking = 0;
            for (const std::set<index_t>& shard : wanted)
              for (index_t place : shard) lacking += present.contains(place) ? 0 : 1;
            REQUIRE(crossing_bytes(mesh, now, move, owners, owner) == 4 * lacking);
          }
          now.layout = move.after;
        }
      }
  }
}

TEST_CASE("what crosses owners is what no device of the receiver has, once") {
  const mesh_desc mesh = meshes({{2, 2}}).front();
  const tensor_desc rows{element::f32, {8}, layout_of(mesh, spec_desc{{"x"}})};
  const redistribution way = redistribute(mesh, rows, layout_of(mesh, spec_desc{{""}}));
  REQUIRE(way.moves.size() == 1);
  // Owner 1 has the second row of devices, or one device of each row.
  const index_t blocks[] = {0, 0, 1, 1};
  const index_t columns[] = {0, 1, 0, 1};
  for (index_t owner : {0, 1}) {
    REQUIRE(crossing_bytes(mesh, rows, way.moves[0], device_owners(blocks), owner) == 16);
    REQUIRE(crossing_bytes(mesh, rows, way.moves[0], device_owners(columns), owner) == 0);
    REQUIRE(crossing_bytes(mesh, rows, way.moves[0], device_owners(), owner) == 0);
  }
}
