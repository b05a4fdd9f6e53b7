// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shard.hpp"
#include "shardwise/mesh/list_view.hpp"
#include "shardwise/notation/named_sharding.hpp"

namespace shardwise {

/// The placement of a tensor along one mesh axis, as in DTensor.
///
/// `strided`: the dimension is split into `factor` chunks, each chunk into one piece per device
/// along the axis, and a device holds its piece of every chunk. `place`: the position of the axis,
/// from the major one, among those that split the dimension, or -1 for the order of the mesh.
struct dtensor_placement {
  enum kind_t : std::uint8_t { replicate, shard, strided, partial } kind = replicate;
  int dim = 0;
  index_t factor = 1;
  int place = -1;
  reduction op = reduction::sum;

  [[nodiscard]] constexpr bool splits(int d) const noexcept {
    return (kind == shard || kind == strided) && dim == d;
  }
  friend constexpr bool operator==(const dtensor_placement&, const dtensor_placement&) = default;
};

/// One placement for each axis of a mesh, applied from left to right.
using dtensor_placements = inplace_vector<dtensor_placement, max_axes>;

/// How placements express that the axes of a dimension are not in mesh order: not at all, by
/// strided shards, or by the positions of the axes.
enum class dtensor_form : std::uint8_t { plain, strided, ordered };

/// Placements, or the reason why there are none.
struct read_placements {
  dtensor_placements placements{};
  parse_verdict verdict{};
};

/// Returns the placements of a layout. The plain form rejects dimensions whose axes are not in mesh
/// order or that are split in chunks; the other forms express chunks by strided shards.
/// Factors above 2^30 are rejected, as in `to_layout`. Block-cyclic dimensions are rejected because
/// their number of chunks depends on the extent, and single cuts because placements split axis by
/// axis; `in_chunks` converts those that are the same parts.
///
/// Strided shards give the parts of the layout if the extents are divisible. Otherwise some indices
/// may be on other devices (7 over `SS(0,2) S(0)` on a mesh of 3 by 2), unless the chunks are split
/// over one axis. The ordered form always gives the parts of the layout if these are contiguous.
///
///     // rows over (tp, fsdp) of mesh(fsdp=4, tp=2): SS(0,2) S(0), or S(0)[1] S(0)[0]
[[nodiscard]] constexpr read_placements to_placements(
    const mesh_desc& mesh, const layout_desc& layout,
    dtensor_form form = dtensor_form::plain) noexcept {
  read_placements result;
  if (form == dtensor_form::strided)
    if (const text_view reason = why_not(mesh, device_view{}); !reason.empty())
      return {{}, {0, reason}};
  if (layout.manual != 0) return {{}, {0, "placements have no manual axes"}};
  result.placements.resize(mesh.axes.size());
  for (int a = 0; a < mesh.rank(); ++a) {
    dtensor_placement& placed = result.placements[a];
    if (layout.is_pending(a)) placed = {.kind = dtensor_placement::partial, .op = layout.kind};
  }
  for (int d = 0; d < layout.rank(); ++d) {
    const axis_list& axes = layout.dims[d];
    bool in_order = true;
    for (int i = 1; i < axes.ssize(); ++i) in_order = in_order && axes[i - 1] < axes[i];
    const grain how = layout.grains[d];
    if (how.is_cyclic()) return {{}, {0, "placements cut chunks and have no cyclic blocks"}};
    if (how.is_halo()) return {{}, {0, "placements have no halos"}};
    if (how.is_single_cut() && !is_cut_alike(mesh, axes, dyn))
      return {{}, {0, "placements cut axis by axis, this layout uneven extents once for all axes"}};
    if (how.is_strided() && form == dtensor_form::plain)
      return {{}, {0, "plain placements split a dimension into contiguous parts"}};
    if (!in_order && form == dtensor_form::plain)
      return {{}, {0, "plain placements split a dimension in the order of the mesh"}};
    const bool by_factor = form == dtensor_form::strided || how.is_strided();
    // The factors of axes that are not in mesh order count devices.
    if (by_factor && !in_order)
      if (const text_view reason = why_not(mesh, device_view{}); !reason.empty())
        return {{}, {0, reason}};
    for (int i = 0; i < axes.ssize(); ++i) {
      dtensor_placement& placed = result.placements[axes[i]];
      placed = {.kind = dtensor_placement::shard, .dim = d, .factor = how.number()};
      if (!in_order && !by_factor) placed.place = i;
      if (!in_order && by_factor)
        for (int k = 0; k < i; ++k)
          if (axes[k] > axes[i]) placed.factor *= mesh.size(axes[k]);
      if (placed.factor > grain::largest)
        return {{}, {0, "the factor of a strided shard is at most 2^30"}};
      if (placed.factor != 1) placed.kind = dtensor_placement::strided;
    }
  }
  return result;
}

/// Returns the layout of a tensor with these extents, expressed in chunks where blocks fill whole
/// rounds (one round is then one chunk), and axis by axis where a single cut gives the same parts.
/// Other blocks and cuts are unchanged.
///
///     // f32[12@x%2] on mesh(x=3) is f32[12@x*2]
[[nodiscard]] constexpr layout_desc in_chunks(const mesh_desc& mesh, const layout_desc& layout,
                                              const extents_desc& extents) noexcept {
  layout_desc chunks = said_by_axis(mesh, layout, extents);
  for (int d = 0; d < layout.rank(); ++d) {
    const index_t round = layout.grains[d].unit(mesh.parts(layout.dims[d]));
    if (!layout.grains[d].is_cyclic() || extents[d] <= 0 || extents[d] % round != 0) continue;
    const index_t rounds = extents[d] / round;
    if (rounds <= grain::largest) chunks.grains[d] = rounds > 1 ? grain::strided(rounds) : grain{};
  }
  return chunks;
}

/// Why `to_layout` rejects strided shards that DTensor accepts; `placed_index` still tells what
/// every device holds.
inline constexpr text_view strided_otherwise =
    "a strided shard counts the same chunks and axes to its right";

namespace detail {

/// Returns the axes that split dimension `d`, major to minor, and their grain, or why the
/// placements have no such order.
[[nodiscard]] constexpr text_view axes_of(const mesh_desc& mesh,
                                          const dtensor_placements& placements, int d,
                                          axis_list& axes, grain& how) noexcept {
  int places = 0;
  int split = 0;
  bool placed[max_axes]{};
  for (const dtensor_placement& one : placements) {
    if (!one.splits(d)) continue;
    ++split;
    if (one.place < 0) continue;
    if (one.place >= max_axes || placed[one.place])
      return "axes of a dimension have different places";
    placed[one.place] = true;
    ++places;
  }
  if (places != 0 && places != split) return "every axis of a dimension has a place, or none has";
  for (int i = 0; i < places; ++i)
    if (!placed[i]) return "the places of the axes of a dimension are 0, 1, 2, ...";
  axes.resize(static_cast<std::size_t>(places));
  // From right to left: the last axis counts only chunks, and each further one is placed after
  // those to its right that its factor counts.
  index_t chunks = 0;
  for (int a = placements.ssize() - 1; a >= 0; --a) {
    const dtensor_placement& one = placements[a];
    if (!one.splits(d)) continue;
    if (places > 0) {
      if (one.kind == dtensor_placement::strided) return "a strided shard has no place";
      axes[one.place] = static_cast<std::uint8_t>(a);
      continue;
    }
    if (chunks == 0) chunks = one.factor;
    int before = 0;
    index_t factor = chunks;
    for (; before < axes.ssize() && factor < one.factor; ++before)
      factor *= mesh.size(axes[before]);
    if (factor != one.factor) return strided_otherwise;
    axes.push_back(0);
    for (int i = axes.ssize() - 1; i > before; --i) axes[i] = axes[i - 1];
    axes[before] = static_cast<std::uint8_t>(a);
  }
  if (chunks > 1) how = grain::strided(chunks);
  return {};
}

}  // namespace detail

/// Returns the layout of placements for a tensor of this rank; negative dimensions count from the
/// end. Rejects strided shards that no chunks and order of axes produce, and two different
/// reductions.
[[nodiscard]] constexpr read_layout to_layout(const mesh_desc& mesh,
                                              const dtensor_placements& given, int rank,
                                              policy_desc policy = exact{}) noexcept {
  read_layout result;
  layout_desc& layout = result.layout;
  const auto refuse = [](text_view reason) { return read_layout{{}, {0, reason}}; };
  if (rank < 0 || rank > max_rank) return refuse("a tensor has at most 8 dimensions");
  if (const text_view reason = why_not(mesh, device_view{}); !reason.empty()) return refuse(reason);
  if (given.ssize() != mesh.rank()) return refuse("every axis of the mesh has a placement");
  layout.dims.resize(static_cast<std::size_t>(rank));
  dtensor_placements placements = given;
  for (int a = 0; a < mesh.rank(); ++a) {
    dtensor_placement& one = placements[a];
    if (one.kind == dtensor_placement::partial) {
      if (layout.pending != 0 && layout.kind != one.op)
        return refuse("a layout is pending by one reduction");
      layout.kind = one.op;
      layout.pending = static_cast<std::uint8_t>(layout.pending | 1U << a);
    }
    if (one.kind != dtensor_placement::shard && one.kind != dtensor_placement::strided) continue;
    one.dim = counted_from_front(one.dim, rank);
    if (one.dim < 0 || one.dim >= rank) return refuse("a shard is of a dimension of the tensor");
    if (one.factor < 1 || one.factor > grain::largest)
      return refuse("the factor of a strided shard is at least 1");
  }
  for (int d = 0; d < rank; ++d)
    if (const text_view reason =
            detail::axes_of(mesh, placements, d, layout.dims[d], layout.grains[d]);
        !reason.empty())
      return refuse(reason);
  layout.follow(policy);
  return result;
}

namespace detail {

/// The indices that one placement leaves on a device: its pieces.
struct strided_piece {
  grained_split split;
  index_t position;

  [[nodiscard]] constexpr index_t count() const noexcept { return split.count(position); }
  /// Returns the index, before this placement, of the `x`-th index here.
  [[nodiscard]] constexpr index_t at(index_t x) const noexcept { return split.global(position, x); }
};

/// Returns the successive pieces of dimension `d` of extent `size`, one for each axis that splits
/// it.
[[nodiscard]] constexpr inplace_vector<strided_piece, max_axes> pieces_of(
    const mesh_desc& mesh, const dtensor_placements& placements, int d, index_t size,
    const coordinates& where) noexcept {
  inplace_vector<strided_piece, max_axes> pieces;
  for (int a = 0; a < placements.ssize(); ++a) {
    if (!placements[a].splits(d)) continue;
    pieces.push_back({{grain::strided(placements[a].factor), size, mesh.size(a)}, where[a]});
    size = pieces.back().count();
  }
  return pieces;
}

}  // namespace detail

/// Returns the number of indices of dimension `d` that a device holds. Placements are applied from
/// left to right as in DTensor, including strided shards that no layout can express.
[[nodiscard]] constexpr index_t placed_size(const mesh_desc& mesh,
                                            const dtensor_placements& placements, int d,
                                            index_t size, index_t device) noexcept {
  const auto pieces = detail::pieces_of(mesh, placements, d, size, mesh.at(device));
  return pieces.empty() ? size : pieces.back().count();
}

/// Returns the global index of the `x`-th index of dimension `d` on a device, or the size of the
/// dimension if the device has no `x`-th index.
///
///     // 8 over one axis of 4, SS(0,2): device 1 holds 1 and 5
[[nodiscard]] constexpr index_t placed_index(const mesh_desc& mesh,
                                             const dtensor_placements& placements, int d,
                                             index_t size, index_t device, index_t x) noexcept {
  const auto pieces = detail::pieces_of(mesh, placements, d, size, mesh.at(device));
  if (pieces.empty()) return x;
  if (x >= pieces.back().count()) return size;
  for (int i = pieces.ssize() - 1; i >= 0; --i) x = pieces[i].at(x);
  return x;
}

/// Returns a lower bound of the number of consecutive indices of dimension `d` from the `x`-th on a
/// device on; 0 if the device has no `x`-th index.
///
///     // 8 over one axis of 2, SS(0,2): device 0 holds 0, 1 and 4, 5, so 2 from its first on
[[nodiscard]] constexpr index_t placed_run(const mesh_desc& mesh,
                                           const dtensor_placements& placements, int d,
                                           index_t size, index_t device, index_t x) noexcept {
  const auto pieces = detail::pieces_of(mesh, placements, d, size, mesh.at(device));
  index_t run = (pieces.empty() ? size : pieces.back().count()) - x;
  if (run <= 0) return 0;
  for (int i = pieces.ssize() - 1; i >= 0; --i) {
    const index_t here = pieces[i].split.run(pieces[i].position, x);
    if (here < run) run = here;
    x = pieces[i].at(x);
  }
  return run;
}

/// True if these placements split a tensor with these extents as their layout does. This is false
/// only for strided shards of several axes whose extent is not divisible.
///
///     // 7 over SS(0,2) S(0) on a mesh of 3 by 2: false; 12: true
[[nodiscard]] constexpr bool cuts_alike(const mesh_desc& mesh, const dtensor_placements& placements,
                                        const layout_desc& layout,
                                        const extents_desc& extents) noexcept {
  for (int d = 0; d < layout.rank(); ++d) {
    if (layout.dims[d].ssize() < 2 || extents[d] == dyn) continue;
    bool strided = false;
    for (const dtensor_placement& one : placements)
      strided = strided || (one.kind == dtensor_placement::strided && one.splits(d));
    if (strided && extents[d] % layout.grains[d].unit(mesh.parts(layout.dims[d])) != 0)
      return false;
  }
  return true;
}

/// Returns the extent of dimension `d` whose pieces have these sizes, one for each device of the
/// mesh, as needed to make a tensor from local tensors. Returns -1 if no extent has these pieces.
///
///     // S(0) over 4 devices that hold 3, 3, 3 and 1: 10
[[nodiscard]] constexpr index_t global_size(const mesh_desc& mesh,
                                            const dtensor_placements& placements, int d,
                                            list_view<const index_t> local) noexcept {
  const index_t count = mesh.devices();
  if (local.ssize() != count || placements.ssize() != mesh.rank()) return -1;
  index_t total = 0;
  for (index_t device = 0; device < count; ++device) {
    const coordinates where = mesh.at(device);
    bool first = true;  // of the devices that hold the same piece
    for (int a = 0; a < mesh.rank(); ++a)
      first = first && (placements[a].splits(d) || where[a] == 0);
    if (first) total += local[device];
  }
  for (index_t device = 0; device < count; ++device)
    if (placed_size(mesh, placements, d, total, device) != local[device]) return -1;
  return total;
}

}  // namespace shardwise
