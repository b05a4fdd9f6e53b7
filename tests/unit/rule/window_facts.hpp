// SPDX-License-Identifier: BSL-1.0
// The halos of windows along a split dimension, and their communication: facts that the static
// tests and the unit tests share.
#pragma once

#include <shardwise/paper.hpp>

namespace windowed {

using namespace shardwise;

/// A dimension over one axis, its windows, the halo that devices need, and the number of distances
/// over which neighbours send it, each with a collective_permute.
struct halo_fact {
  index_t devices;
  index_t size;
  dimension_window reads;
  index_t before;
  index_t behind;
  int distances;
};

constexpr mesh_desc line_of(index_t devices) { return {{axis_desc{"x", devices}}}; }

/// A tensor of one row with a split dimension.
constexpr tensor_desc split_row(const mesh_desc& mesh, index_t size) {
  tensor_desc out{element::f32, {1, size}, layout_of(mesh, {{"", "x"}}, {}, uneven{})};
  return out;
}

/// The communication of a halo: the distances, and the most bytes that a device receives.
struct exchanged {
  int distances = 0;
  index_t bytes = 0;
  bool is_one_exchange = false;
};
constexpr exchanged exchange_of(const mesh_desc& mesh, const tensor_desc& x, grain halo) {
  exchanged out;
  layout_desc target = x.layout;
  target.grains[1] = halo;
  const redistribution way = redistribute(mesh, x, target);
  if (way.moves.empty()) return out;
  out.is_one_exchange = way.moves.ssize() == 1 && way.moves[0].kind == collective::halo_exchange;
  inplace_vector<index_t, 64> distances;
  for (index_t to = 0; to < mesh.devices(); ++to) {
    index_t bytes = 0;
    for_each_piece(mesh, x, way.moves[0], to, [&](const shard_piece& p) {
      if (p.from == to) return;
      bytes += p.elements * size_of(x.type);
      if (!distances.contains(p.from - to)) distances.push_back(p.from - to);
    });
    out.bytes = bytes > out.bytes ? bytes : out.bytes;
  }
  out.distances = distances.ssize();
  out.is_one_exchange = out.is_one_exchange && way.moves[0].total_bytes() == out.bytes;
  return out;
}

constexpr bool holds(const halo_fact& fact) {
  const mesh_desc mesh = line_of(fact.devices);
  const needed_halo found = halo_of(mesh, axis_list{0}, fact.reads, fact.size);
  if (!found.is_known || found.before != fact.before || found.behind != fact.behind) return false;
  if (found.is_nothing()) return fact.distances == 0;
  const exchanged moved =
      exchange_of(mesh, split_row(mesh, fact.size), grain::halo(found.before, found.behind));
  return moved.is_one_exchange && moved.distances == fact.distances;
}

inline constexpr halo_fact facts[] = {
    // A convolution of 224 elements, with windows of 7, a stride of 2 and padding of 3.
    {2, 224, {7, 2, 3, 3}, 3, 2, 2},
    // Valid windows of 6: devices have 4 and 3 results of 6 elements each.
    {2, 12, {6, 1, 0, 0}, 2, 3, 2},
    // The gradient of weights: as many windows as results, each as wide as the weights.
    {2, 14, {3, 2, 1, 0}, 0, 1, 1},
    {2, 28, {3, 1, 1, 1}, 1, 1, 2},
    // Pooling: no neighbours, neighbours on one side, beyond the next device, on both sides.
    {4, 128, {2, 2, 0, 0}, 0, 0, 0},
    {2, 6, {3, 2, 0, 1}, 0, 2, 1},
    {5, 9, {4, 2, 3, 0}, 3, 0, 2},
    {3, 9, {3, 2, 1, 1}, 0, 2, 1},
    {4, 16, {3, 1, 1, 1}, 1, 1, 2},
    // Windows that end at the borders of even shards, but not of uneven ones.
    {4, 12, {3, 3, 0, 0}, 0, 0, 0},
    {4, 10, {2, 2, 0, 0}, 0, 2, 1},
    // Windows wider than several shards, and empty shards with results.
    {8, 8, {7, 1, 3, 3}, 3, 3, 6},
    {3, 4, {1, 1, 1, 1}, 1, 0, 1},
    // Dilated elements, as in the gradient of a stride.
    {2, 8, {3, 1, 1, 2, 2}, 0, 1, 1},
    // A window of one element.
    {4, 10, {1, 1, 0, 0}, 0, 0, 0},
};

}  // namespace windowed
