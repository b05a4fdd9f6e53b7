// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/single_cut.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/rule/collective.hpp"
#include "shardwise/rule/propagate.hpp"

namespace shardwise {

/// One collective of a redistribution.
struct planned_transfer {
  collective kind = collective::slice;
  /// The axes over which it runs, major to minor.
  axis_list axes{};
  /// The dimension that loses the axes, and the one that gets them; -1 if there is none. Both are
  /// the same dimension if its devices only exchange elements, because its grain changes. A
  /// permutation of shards names neither: see `shard_permutation`.
  int from = -1;
  int to = -1;
  /// The layout after it.
  layout_desc after{};
  /// The bytes that a device receives over each of `axes`; 0 for a slice, INT64_MAX for more than
  /// can be counted: most parts of a large tensor may be empty, and are charged as full ones.
  inplace_vector<index_t, max_axes> bytes{};

  /// The bytes that a device receives.
  [[nodiscard]] constexpr index_t total_bytes() const noexcept {
    index_t sum = 0;
    for (index_t b : bytes) sum = size_sum(sum, b);
    return sum;
  }
  friend constexpr bool operator==(const planned_transfer&, const planned_transfer&) = default;
};

namespace detail {

/// Returns true if a collective converts a dimension from or to the portions of a grain.
[[nodiscard]] constexpr bool is_grained(const layout_desc& before,
                                        const planned_transfer& step) noexcept {
  return (step.from >= 0 && !before.grains[step.from].is_contiguous()) ||
         (step.to >= 0 && !step.after.grains[step.to].is_contiguous());
}

/// Returns how many elements of a dimension every device is certain to keep when its grain changes:
/// if parts are contiguous before or after, each device has its piece of every whole round in its
/// part.
[[nodiscard]] constexpr index_t surely_kept(grain a, grain b, index_t size,
                                            index_t parts) noexcept {
  if (!(a.is_contiguous() || b.is_contiguous()) || size % parts != 0) return 0;
  const grained_split split{a.is_contiguous() ? b : a, size, parts};
  if (split.how.is_strided() && size % split.how.unit(parts) != 0) return 0;
  return size / parts / split.round() * split.piece();
}

/// Returns the bytes of `elements` elements from each of `devices` devices, INT64_MAX for more than
/// can be counted.
[[nodiscard]] constexpr index_t bytes_from(index_t devices, index_t elements,
                                           element type) noexcept {
  return size_product(size_product(elements, devices), size_of(type));
}

/// The same as `received_bytes` if a grain is involved: its dimension is moved as a whole, and a
/// part that only changes its grain is charged without the elements that are certainly kept.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> grained_bytes(
    const mesh_desc& mesh, const tensor_desc& before, const planned_transfer& step) noexcept {
  inplace_vector<index_t, max_axes> bytes;
  bytes.resize(step.axes.size());
  const index_t parts = mesh.parts(step.axes);
  if (parts == 1) return bytes;
  // The data that a device gets from each of the others: their parts in a gather, its own part in a
  // scatter, and otherwise the intersection of their old parts with its new one.
  const int along = step.from >= 0 ? step.from : step.to;
  const bool turns = step.from == step.to;
  extents_desc part;
  for (int d = 0; d < before.rank(); ++d) {
    const layout_desc& layout = d == step.from && !turns ? before.layout : step.after;
    part.push_back(largest_part(mesh, layout.dims[d], layout.grains[d], before.extents[d]));
  }
  index_t share = element_count(part);
  part[along] = before.extents[along];
  const index_t most = element_count(part);
  if (turns && before.extents[along] > 0) {
    const index_t kept = surely_kept(before.layout.grains[along], step.after.grains[along],
                                     before.extents[along], parts);
    share = ceil_div(share - most / before.extents[along] * kept, parts - 1);
  }
  for (int i = step.axes.ssize() - 1; i >= 0; --i) {
    const index_t n = mesh.size(step.axes[i]);
    bytes[i] = bytes_from(n - 1, share, before.type);
    // Along a major axis, data comes from whole groups: their parts, or a term from each device.
    const index_t group = size_product(share, n);
    share = group < most || step.kind == collective::reduce_scatter ? group : most;
  }
  return bytes;
}

/// Returns the position, along `axes`, of the device with index `x` of a dimension that is cut axis
/// by axis.
[[nodiscard]] constexpr index_t position_with(const mesh_desc& mesh, const axis_list& axes,
                                              index_t size, index_t x) noexcept {
  index_t position = 0;
  for (std::uint8_t a : axes) {
    const index_t chunk = ceil_div(size, mesh.size(a));
    const index_t before = x / chunk * chunk;
    position = position * mesh.size(a) + x / chunk;
    x -= before;
    size = chunk < size - before ? chunk : size - before;
  }
  return position;
}

/// The same for an exchange of halos: the most that a device gets over each axis. Data is
/// attributed to the most major axis along which the two devices differ.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> halo_bytes(
    const mesh_desc& mesh, const tensor_desc& before, const planned_transfer& step) noexcept {
  inplace_vector<index_t, max_axes> bytes;
  bytes.resize(step.axes.size());
  const int d = step.to;
  const index_t size = before.extents[d], parts = mesh.parts(step.axes);
  index_t across = size_of(before.type);
  for (int k = 0; k < before.rank(); ++k)
    if (k != d)
      across *=
          largest_part(mesh, before.layout.dims[k], before.layout.grains[k], before.extents[k]);
  const auto own = [&](index_t p) { return range_at(mesh, step.axes, size, p); };
  const auto charge = [&](index_t p) {
    const index_range has = own(p), gets = with_halo(has, step.after.grains[d], size);
    inplace_vector<index_t, max_axes> elements;
    elements.resize(step.axes.size());
    const auto take = [&](index_t from) {
      const index_range theirs = own(from);
      const index_t begin = theirs.begin > gets.begin ? theirs.begin : gets.begin;
      const index_t end = theirs.end < gets.end ? theirs.end : gets.end;
      int axis = step.axes.ssize() - 1;
      for (index_t a = p, b = from;
           axis > 0 && a / mesh.size(step.axes[axis]) != b / mesh.size(step.axes[axis]); --axis) {
        a /= mesh.size(step.axes[axis]);
        b /= mesh.size(step.axes[axis]);
      }
      if (end > begin) elements[axis] += end - begin;
    };
    for (index_t x = gets.begin; x < gets.end;) {
      const index_t from = position_with(mesh, step.axes, size, x);
      if (from != p) take(from);
      x = own(from).end;
    }
    for (int i = 0; i < step.axes.ssize(); ++i)
      if (elements[i] * across > bytes[i]) bytes[i] = elements[i] * across;
  };
  const grain how = step.after.grains[d];
  const bool are_neighbours =
      size % parts == 0 && how.before() <= size / parts && how.behind() <= size / parts;
  if (parts <= 64 || !are_neighbours) {
    for (index_t p = 0; p < parts; ++p) charge(p);
    return bytes;
  }
  // Parts are equal, and each device receives from its neighbours alone, so devices differ only in
  // the axes over which they receive: those next to a boundary of each axis represent all.
  index_t minor = 1;
  for (int i = step.axes.ssize() - 1; i >= 0; --i) {
    for (index_t p = minor - 1; p <= minor + 1; ++p)
      if (p < parts) charge(p);
    minor *= mesh.size(step.axes[i]);
  }
  return bytes;
}

/// The same for an all_reduce. Of few elements, the first device of a group receives more from all
/// of the others, a term for its part of the sum and their parts, than devices receive axis by
/// axis: then this is charged.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> all_reduce_bytes(
    const mesh_desc& mesh, const tensor_desc& before, const planned_transfer& step) noexcept {
  inplace_vector<index_t, max_axes> by_axis, direct;
  by_axis.resize(step.axes.size());
  direct.resize(step.axes.size());
  const index_t size = largest_shard_size(mesh, before.layout, before.extents);
  const index_t own = ceil_div(size, mesh.parts(step.axes));
  // The elements that the first `devices` devices of a group reduce.
  const auto reduced = [&](index_t devices) { return own * devices < size ? own * devices : size; };
  index_t chunk = size, minor = mesh.parts(step.axes), sums[2] = {0, 0};
  for (int i = 0; i < step.axes.ssize(); ++i) {
    const index_t n = mesh.size(step.axes[i]), group = minor;
    chunk = ceil_div(chunk, n);
    minor /= n;
    by_axis[i] = bytes_from(n - 1, 2 * chunk, before.type);
    direct[i] = bytes_from(1, own * (group - minor) + reduced(group) - reduced(minor), before.type);
    sums[0] = size_sum(sums[0], by_axis[i]);
    sums[1] = size_sum(sums[1], direct[i]);
  }
  return sums[0] < sums[1] ? direct : by_axis;
}

/// Returns the bytes that a device receives over each axis of a collective, as counted by
/// `piece_bytes`: an upper bound for all devices. Several axes are charged as in a hierarchical
/// algorithm: gathering from the minor axis outwards, reducing from the major axis inwards. A
/// single cut that equals a cut axis by axis is charged as that.
[[nodiscard]] constexpr inplace_vector<index_t, max_axes> received_bytes(
    const mesh_desc& mesh, tensor_desc before, planned_transfer step) noexcept {
  before.layout = said_by_axis(mesh, before.layout, before.extents);
  step.after = said_by_axis(mesh, step.after, before.extents);
  if (step.kind == collective::halo_exchange) return halo_bytes(mesh, before, step);
  if (is_grained(before.layout, step) && step.kind != collective::slice)
    return grained_bytes(mesh, before, step);
  inplace_vector<index_t, max_axes> bytes;
  bytes.resize(step.axes.size());
  const index_t size = size_of(before.type);
  if (step.kind == collective::collective_permute) {
    // A whole shard from one other device, over the most major axis along which they may differ.
    for (int i = 0; i < step.axes.ssize(); ++i)
      if (mesh.size(step.axes[i]) > 1) {
        bytes[i] = largest_shard_size(mesh, before.layout, before.extents) * size;
        break;
      }
    return bytes;
  }
  if (step.kind == collective::all_reduce) return all_reduce_bytes(mesh, before, step);
  tensor_desc now = before;
  const auto elements = [&] { return largest_shard_size(mesh, now.layout, now.extents); };
  if (step.kind == collective::all_gather) {
    for (int i = step.axes.ssize() - 1; i >= 0; --i) {
      bytes[i] = bytes_from(mesh.size(step.axes[i]) - 1, elements(), before.type);
      now.layout.dims[step.from].pop_back();
    }
  } else if (step.kind != collective::slice) {
    // Every device gets its part from each of the others: of the sum, or of the dimension that
    // loses the axes.
    if (step.kind == collective::reduce_scatter)
      now.layout = step.after;
    else
      for (std::uint8_t a : step.axes) now.layout.dims[step.to].push_back(a);
    index_t share = elements();
    for (int i = step.axes.ssize() - 1; i >= 0; --i) {
      const index_t n = mesh.size(step.axes[i]);
      bytes[i] = bytes_from(n - 1, share, before.type);
      share = size_product(share, n);
    }
  }
  return bytes;
}

}  // namespace detail

/// Returns the axes over which a transfer moves data: those with several devices, and none for a
/// slice.
[[nodiscard]] constexpr axis_list moving_axes(const mesh_desc& mesh,
                                              const planned_transfer& step) noexcept {
  return step.kind == collective::slice ? axis_list{} : internal::real_axes(mesh, step.axes);
}

}  // namespace shardwise
