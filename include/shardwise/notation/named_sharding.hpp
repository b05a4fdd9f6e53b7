// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/single_cut.hpp"
#include "shardwise/notation/axis_ref.hpp"

namespace shardwise {

/// A mesh as in the text of a compiler: axes, and the order of devices if it is not 0, 1, 2, ... A
/// maximal mesh has no axes and one device.
struct named_mesh {
  mesh_desc mesh{};
  device_view devices{};
  index_t device = -1;  ///< of a maximal mesh

  [[nodiscard]] constexpr bool maximal() const noexcept { return device >= 0; }
};

/// The devices of a mesh by position: those given, or the order of the mesh itself.
[[nodiscard]] constexpr device_view devices_of(const mesh_desc& mesh,
                                               device_view given = {}) noexcept {
  return given.empty() ? device_view(mesh.order.devices()) : given;
}

/// Returns a mesh as in the text of a compiler; the order 0, 1, 2, ... is not listed.
[[nodiscard]] constexpr named_mesh to_named(const mesh_desc& mesh,
                                            device_view given = {}) noexcept {
  const device_view devices = devices_of(mesh, given);
  return {mesh_desc{mesh.axes}, is_plain(devices) ? device_view{} : devices};
}

/// Returns why tiles cannot be on this mesh, or nothing: sizes must be known, and an explicit order
/// must be a permutation of the devices.
[[nodiscard]] constexpr text_view why_not(const mesh_desc& mesh, device_view devices) noexcept {
  index_t most = max_tile_devices;
  for (const axis_desc& axis : mesh.axes) {
    if (axis.size < 1) return "every size of the mesh is known";
    most /= axis.size;
  }
  if (most < 1) return "there are at most 2^30 devices";
  if (devices.empty()) return {};
  const index_t count = mesh.devices();
  if (devices.size() != count) return "a mesh has as many devices as its sizes say";
  constexpr index_t window = 4096;  // devices looked for in one pass, a bit each
  for (index_t first = 0; first < count; first += window) {
    std::uint64_t seen[window / 64]{};
    for (index_t i = 0; i < count; ++i) {
      const index_t bit = devices[i] - first;
      if (devices[i] < 0 || devices[i] >= count)
        return "a device is a number below the size of the mesh";
      if (bit < 0 || bit >= window) continue;
      const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
      if ((seen[bit / 64] & mask) != 0) return "each device appears once in a mesh";
      seen[bit / 64] |= mask;
    }
  }
  return {};
}

/// How one dimension is split. `open`: propagation may split it further. `priority`: the round in
/// which propagation considers it, or -1. `how` is the grain, and `by_axis` tells that axes cut an
/// uneven extent one after another; texts with names can express neither, and always mean a single
/// cut.
struct named_dim {
  axis_refs axes{};
  bool open = false;
  index_t priority = -1;
  grain how{};
  bool by_axis = false;

  friend constexpr bool operator==(const named_dim&, const named_dim&) = default;
};

/// A sharding with the names of a mesh, as HLO and Shardy write it: a `layout_desc` together with
/// sub-axes, open dimensions, and axes that are manual or explicitly replicated.
struct named_sharding {
  /// `listed`: given by the dimensions and axes. The other kinds apply to the whole tensor, of any
  /// rank.
  enum whole_t : std::uint8_t { listed, replicated_whole, manual_whole, unreduced_whole };

  named_mesh on{};
  whole_t whole = listed;
  inplace_vector<named_dim, max_rank> dims{};
  axis_refs replicated{};
  axis_refs unreduced{};
  axis_refs manual{};
  reduction kind = reduction::sum;

  [[nodiscard]] constexpr int rank() const noexcept { return dims.ssize(); }
  /// Returns the same sharding, with a whole tensor that is manual or unreduced expressed by a list
  /// of all axes.
  [[nodiscard]] constexpr named_sharding with_axes_listed() const noexcept {
    named_sharding out = *this;
    for (int a = 0; a < on.mesh.rank(); ++a) {
      if (whole == manual_whole) out.manual.push_back({static_cast<std::uint8_t>(a)});
      if (whole == unreduced_whole) out.unreduced.push_back({static_cast<std::uint8_t>(a)});
    }
    out.whole = listed;
    return out;
  }
};

/// True if two named shardings are equal, on meshes with the same order of devices.
[[nodiscard]] constexpr bool operator==(const named_sharding& a, const named_sharding& b) noexcept {
  return a.on.mesh == b.on.mesh && same_devices(a.on.devices, b.on.devices) &&
         a.on.device == b.on.device && a.whole == b.whole && a.dims == b.dims &&
         a.replicated == b.replicated && a.unreduced == b.unreduced && a.manual == b.manual &&
         a.kind == b.kind;
}

namespace detail {

/// The axes that a sharding has used so far; checks each further one.
class axis_uses {
 public:
  explicit constexpr axis_uses(const mesh_desc& mesh) noexcept : mesh_(mesh) {}

  /// Returns why `ref` cannot come next in `list`, or nothing, and then marks it as used.
  [[nodiscard]] constexpr text_view use(const axis_ref& ref, const axis_refs& list,
                                        bool in_order) noexcept {
    text_view reason = why_not(mesh_, ref);
    for (int i = 0; reason.empty() && i < used_.ssize(); ++i)
      reason = why_not(mesh_, used_[i], ref);
    if (!reason.empty()) return reason;
    if (!list.empty() && merges(mesh_, list.back(), ref))
      return "sub-axes that continue each other are one";
    if (in_order && !list.empty() && !comes_before(list.back(), ref))
      return "these axes are in the order of the mesh";
    if (used_.full()) return "a sharding uses at most 16 axes and parts";
    used_.push_back(ref);
    return {};
  }
  /// Checks a whole list.
  [[nodiscard]] constexpr text_view use_all(const axis_refs& refs, bool in_order) noexcept {
    axis_refs before;
    for (const axis_ref& ref : refs) {
      if (ref.axis >= mesh_.rank()) return "axes are those of the mesh";
      if (const text_view reason = use(ref, before, in_order); !reason.empty()) return reason;
      before.push_back(ref);
    }
    return {};
  }

 private:
  const mesh_desc& mesh_;
  axis_refs used_{};
};

}  // namespace detail

/// Returns why a dimension cannot be written this way, or nothing.
[[nodiscard]] constexpr text_view why_not(const named_dim& dim) noexcept {
  if (dim.axes.empty() && !dim.open && dim.priority >= 0)
    return "a dimension that is empty and closed has no priority";
  if (!dim.how.is_contiguous()) return "only contiguous parts of a dimension can be written so";
  if (dim.by_axis)
    return "names and tiles cut uneven extents once for all axes, this layout axis by axis";
  return {};
}

/// Returns why a named sharding is illegal, or nothing. Axes must be in the mesh and used once, as
/// a whole or in parts that fit; parts that continue each other must be joined; sets must be in
/// mesh order; and a maximal mesh has no dimensions and no axes.
[[nodiscard]] constexpr text_view why_not(const named_sharding& sharding) noexcept {
  if (sharding.on.maximal() &&
      !(sharding.dims.empty() && sharding.replicated.empty() && sharding.unreduced.empty()))
    return "a maximal sharding has no dimensions and no axes";
  if (const text_view reason = why_not(sharding.on.mesh, sharding.on.devices); !reason.empty())
    return reason;
  detail::axis_uses uses(sharding.on.mesh);
  for (const named_dim& dim : sharding.dims) {
    if (const text_view reason = uses.use_all(dim.axes, false); !reason.empty()) return reason;
    if (const text_view reason = why_not(dim); !reason.empty()) return reason;
  }
  for (const axis_refs* set : {&sharding.replicated, &sharding.unreduced, &sharding.manual})
    if (const text_view reason = uses.use_all(*set, true); !reason.empty()) return reason;
  return {};
}

/// Also checks the rank of the tensor.
[[nodiscard]] constexpr text_view why_not(const named_sharding& sharding, int rank) noexcept {
  const bool any_rank = sharding.whole != named_sharding::listed || sharding.on.maximal();
  if (!any_rank && sharding.rank() != rank) return "a sharding has one entry for each dimension";
  return why_not(sharding);
}

/// Returns the named sharding of a layout. Only the policy is lost: uneven extents then mean a
/// single cut. Without `devices` the order is that of the mesh.
[[nodiscard]] constexpr named_sharding to_named(const mesh_desc& mesh, const layout_desc& layout,
                                                device_view devices = {}) noexcept {
  named_sharding sharding;
  sharding.on = to_named(mesh, devices);
  sharding.kind = layout.kind;
  for (const axis_list& axes : layout.dims) {
    const grain how = layout.grains[sharding.rank()];
    named_dim dim{.how = how.is_single_cut() ? grain{} : how};
    dim.by_axis = layout.uneven && how.is_contiguous() && !is_cut_alike(mesh, axes, dyn);
    for (std::uint8_t a : axes) dim.axes.push_back({a});
    sharding.dims.push_back(dim);
  }
  for (std::uint8_t a : layout.pending_axes()) sharding.unreduced.push_back({a});
  for (std::uint8_t a : layout.manual_axes()) sharding.manual.push_back({a});
  return sharding;
}

/// A layout, or the reason why no layout can express a text.
struct read_layout {
  layout_desc layout{};
  parse_verdict verdict{};
};

/// Returns the layout of a named sharding for a tensor of this rank, with the policy `single_cut`
/// that its text means, or axis by axis if that is requested. Openness, priorities and explicitly
/// replicated axes are hints to propagation and are dropped. Rejects parts of axes, and a tensor on
/// one device. The order of devices is only in `sharding.on`.
[[nodiscard]] constexpr read_layout to_layout(const named_sharding& sharding, int rank,
                                              policy_desc policy = exact{}) noexcept {
  read_layout result;
  layout_desc& layout = result.layout;
  const auto refuse = [](text_view reason) { return read_layout{{}, {0, reason}}; };
  if (const text_view reason = why_not(sharding, rank); !reason.empty()) return refuse(reason);
  if (sharding.on.maximal()) return refuse("a layout has a mesh, not one device");
  if (rank < 0 || rank > max_rank) return refuse("a tensor has at most 8 dimensions");
  layout.dims.resize(static_cast<std::size_t>(rank));
  for (int d = 0; d < sharding.rank(); ++d)
    for (const axis_ref& ref : sharding.dims[d].axes) {
      if (!ref.whole()) return refuse("a layout splits by whole axes");
      layout.dims[d].push_back(ref.axis);
    }
  const auto every_axis = static_cast<std::uint8_t>((1U << sharding.on.mesh.rank()) - 1U);
  if (sharding.whole == named_sharding::unreduced_whole) layout.pending = every_axis;
  if (sharding.whole == named_sharding::manual_whole) layout.manual = every_axis;
  for (const axis_ref& ref : sharding.unreduced) {
    if (!ref.whole()) return refuse("a layout is pending over whole axes");
    layout.pending = static_cast<std::uint8_t>(layout.pending | 1U << ref.axis);
  }
  for (const axis_ref& ref : sharding.manual) {
    if (!ref.whole()) return refuse("a layout is manual over whole axes");
    layout.manual = static_cast<std::uint8_t>(layout.manual | 1U << ref.axis);
  }
  layout.kind = layout.pending != 0 ? sharding.kind : reduction::sum;
  layout.follow(policy);
  return result;
}

}  // namespace shardwise
