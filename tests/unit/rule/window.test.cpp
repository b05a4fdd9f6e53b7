// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include "unit/layout/shard_facts.hpp"
#include "unit/rule/window_facts.hpp"
#include <shardwise/paper.hpp>

#include <algorithm>
#include <random>
#include <vector>

using namespace shardwise;

namespace {

/// The halo of the device that needs most, found by asking each of them.
needed_halo halo_of_each(const mesh_desc& mesh, const axis_list& axes,
                         const dimension_window& reads, index_t size) {
  needed_halo most;
  for (index_t p = 0; p < mesh.parts(axes); ++p) {
    const index_range needs = reads.read_by(range_at(mesh, axes, reads.count(size), p), size);
    if (needs.empty()) continue;
    const index_range has = range_at(mesh, axes, size, p);
    most.before = std::max(most.before, has.begin - needs.begin);
    most.behind = std::max(most.behind, needs.end - has.end);
  }
  return most;
}

/// The elements that the device which gets most over each axis gets of a halo, found by asking each
/// device for each other one.
std::vector<index_t> elements_of_each(const mesh_desc& mesh, const axis_list& axes, grain how,
                                      index_t size) {
  std::vector<index_t> most(axes.size(), 0);
  const index_t parts = mesh.parts(axes);
  for (index_t p = 0; p < parts; ++p) {
    std::vector<index_t> got(axes.size(), 0);
    const index_range wants = with_halo(range_at(mesh, axes, size, p), how, size);
    for (index_t q = 0; q < parts; ++q) {
      const index_range has = range_at(mesh, axes, size, q);
      const index_t shared = std::min(wants.end, has.end) - std::max(wants.begin, has.begin);
      if (q == p || shared <= 0) continue;
      // The most major axis along which the two differ.
      int axis = axes.ssize() - 1;
      for (index_t a = p, b = q;; --axis) {
        a /= mesh.size(axes[axis]);
        b /= mesh.size(axes[axis]);
        if (a == b) break;
      }
      got[static_cast<std::size_t>(axis)] += shared;
    }
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], got[i]);
  }
  return most;
}

/// Random numbers, and random meshes with their axes in a random order.
class drawn {
 public:
  explicit drawn(unsigned seed) : draw_(seed) {}
  index_t upto(index_t n) { return std::uniform_int_distribution<index_t>(0, n)(draw_); }
  mesh_desc mesh(index_t most) {
    return mesh_of_sizes({1 + upto(most), 1 + upto(most), 1 + upto(5)});
  }
  axis_list axes() {
    axis_list out{0, 1, 2};
    for (int i = 0; i < 3; ++i) std::swap(out[i], out[static_cast<int>(upto(2))]);
    return out;
  }

 private:
  std::mt19937 draw_;
};

}  // namespace

TEST_CASE("windows of a split dimension lack the neighbours that the facts say") {
  for (const windowed::halo_fact& fact : windowed::facts) {
    const auto found = shardwise::halo_of(windowed::line_of(fact.devices), shardwise::axis_list{0},
                                          fact.reads, fact.size);
    CAPTURE(static_cast<int>(&fact - windowed::facts), found.before, found.behind);
    CHECK(holds(fact));
  }
}

TEST_CASE("The halos of many devices are those of the devices that need most") {
  drawn random(7);
  const auto upto = [&](index_t n) { return random.upto(n); };
  int wrong = 0, large = 0;
  for (int round = 0; round < 3000; ++round) {
    const mesh_desc mesh = random.mesh(11);
    const axis_list axes = random.axes();
    const index_t parts = mesh.parts(axes);
    // Even splits of both sides mostly, which are those that are not visited one by one.
    const index_t size = upto(3) == 0 ? upto(3 * parts) : parts * upto(9);
    dimension_window reads{1 + upto(6), 1 + upto(2), 0, 0, upto(9) == 0 ? 2 : 1};
    reads.low = upto(3 * parts) - parts;
    // The number of windows becomes a multiple of the number of devices.
    const index_t count = parts * upto(9);
    reads.high = (count - 1) * reads.stride + reads.span - reads.spread(size) - reads.low;
    if (count == 0) continue;
    const needed_halo found = halo_of(mesh, axes, reads, size);
    const needed_halo each = halo_of_each(mesh, axes, reads, size);
    large += parts > 64 && found.before + found.behind > 0 ? 1 : 0;
    wrong += found.is_known && found.before == each.before && found.behind == each.behind ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(large > 500);
}

TEST_CASE("An exchange of halos among many devices costs what the devices receive that get most") {
  drawn random(8);
  const auto upto = [&](index_t n) { return random.upto(n); };
  int wrong = 0, large = 0;
  for (int round = 0; round < 300; ++round) {
    const mesh_desc mesh = random.mesh(7);
    const axis_list axes = random.axes();
    const index_t parts = mesh.parts(axes);
    const index_t size = upto(3) == 0 ? 1 + upto(3 * parts) : parts * (1 + upto(4));
    const grain how = grain::halo(upto(6), upto(6));
    index_t largest = 0;
    for (index_t p = 0; p < parts; ++p)
      largest = std::max(largest, with_halo(range_at(mesh, axes, size, p), how, size).size());
    planned_transfer step;
    step.kind = collective::halo_exchange;
    step.axes = axes;
    step.to = 0;
    step.after.dims.push_back(axes);
    step.after.grains[0] = how;
    tensor_desc before{element::u8, {size}, {}};
    before.layout.dims.push_back(axes);
    before.layout.uneven = true;
    const auto bytes = detail::halo_bytes(mesh, before, step);
    const auto each = elements_of_each(mesh, axes, how, size);
    large += parts > 64 ? 1 : 0;
    wrong += largest_part(mesh, axes, how, size) == largest &&
                     std::equal(bytes.begin(), bytes.end(), each.begin(), each.end())
                 ? 0
                 : 1;
  }
  CHECK(wrong == 0);
  CHECK(large > 100);
}
