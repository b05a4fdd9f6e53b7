// SPDX-License-Identifier: BSL-1.0
// The order of devices determines which device holds which shard, and nothing else.
#include "property/generated.hpp"
#include "support/catch.hpp"
#include <shardwise/notation.hpp>

#include <algorithm>
#include <numeric>

using namespace generated;

namespace {

/// All orders of the devices of a mesh, or 24 of them, with the arrays that they refer to.
struct ordered {
  std::vector<index_t> devices, positions;
  mesh_desc mesh;
};
std::vector<ordered> orders(const mesh_desc& plain) {
  std::vector<index_t> devices(static_cast<std::size_t>(plain.devices()));
  std::iota(devices.begin(), devices.end(), index_t{0});
  std::vector<ordered> all;
  do {
    ordered next{devices, std::vector<index_t>(devices.size()), plain};
    REQUIRE(invert(next.devices, plain.devices(), next.positions).ok());
    all.push_back(std::move(next));
    all.back().mesh.order = {all.back().devices, all.back().positions};
    // Larger meshes: a few orders that differ much.
    if (devices.size() > 4) std::rotate(devices.begin(), devices.begin() + 3, devices.end());
  } while (std::next_permutation(devices.begin(), devices.end()) && all.size() < 24);
  for (ordered& one : all) one.mesh.order = {one.devices, one.positions};
  return all;
}

}  // namespace

TEST_CASE("the device at a position holds what device number position holds in a plain mesh") {
  for (const mesh_desc& plain : meshes({{3}, {2, 2}, {3, 2}, {2, 2, 2}})) {
    const device_pool pool(plain, 2);
    const extents_desc extents{5, 3};
    const std::vector<float> host = whole_numbers(element_count(extents), 1);
    for (const ordered& order : orders(plain)) {
      const device_pool reordered(order.mesh, 2);
      REQUIRE(reordered.mesh() == order.mesh);
      for (const layout_desc& layout : layouts(plain, 2, false)) {
        const auto x = distribute(pool, std::span<const float>(host), extents, layout);
        const auto y = distribute(reordered, std::span<const float>(host), extents, layout);
        REQUIRE(values(y) == host);
        for (index_t p = 0; p < plain.devices(); ++p) {
          const auto here = local(x, p), there = local(y, order.devices[std::size_t(p)]);
          REQUIRE(here.range() == there.range());
          REQUIRE(here.replica() == there.replica());
          REQUIRE(std::equal(here.elements().begin(), here.elements().end(),
                             there.elements().begin(), there.elements().end()));
        }
      }
    }
  }
}

TEST_CASE("reshards on a mesh with an order of its own give the same bits for the same bytes") {
  const mesh_desc plain = meshes({{2, 3}}).front();
  const extents_desc extents{5, 4};
  for (const ordered& order : orders(plain)) {
    const device_pool pool(order.mesh, 2);
    for (const layout_desc& source : layouts(plain, 2, true)) {
      const tensor_and_value x = make(pool, extents, source, 5);
      for (const layout_desc& target : layouts(plain, 2, false)) {
        pool.reset_counters();
        REQUIRE(values(reshard(x.tensor, target)) == x.value);
        REQUIRE(pool.counters().bytes_moved() ==
                redistribute(plain, x.tensor.tensor(), target).total_bytes());
      }
    }
  }
}

TEST_CASE("every notation that lists devices says the order, and is read back") {
  for (const mesh_desc& plain : meshes({{3}, {2, 2}, {3, 2}, {2, 2, 2}}))
    for (const ordered& order : orders(plain))
      for (const layout_desc& layout : layouts(plain, 2, false))
        for (const notation form :
             {notation::hlo_listed, notation::hlo_ordered, notation::hlo_named, notation::sdy}) {
          tile_list<64> memory, other, again;
          message_text own, given;
          // If the axes divide the extent, all notations describe the same shards.
          layout_desc exact = layout;
          exact.uneven = false;
          REQUIRE(write_layout_as(own, form, order.mesh, exact, memory.buffer).ok());
          REQUIRE(write_layout_as(given, form, plain, exact, other.buffer, order.devices).ok());
          REQUIRE(own == given);
          REQUIRE(to_text(form, order.mesh, exact) == own);
          const read_layout read = parse_layout(own, order.mesh, 2, again.buffer);
          REQUIRE(parse_layout(form, own, order.mesh, 2).layout == read.layout);
          REQUIRE(read.verdict.ok());
          REQUIRE(read.layout == exact);
        }
}
