// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/grain.hpp"
#include "shardwise/mesh/mesh_desc.hpp"
#include "shardwise/spec/spec.hpp"

namespace shardwise {

/// The global extents of a tensor as a value; `dyn` where not known yet.
using extents_desc = inplace_vector<index_t, max_rank>;

/// A layout as a value, relative to a mesh: the axes that split each dimension and the grain, the
/// pending axes, and the manual axes.
///
/// All rules work on this form. `pending` and `manual` have one bit for each mesh axis. The grain
/// of a dimension that is not split is contiguous.
struct layout_desc {
  inplace_vector<axis_list, max_rank> dims{};
  std::uint8_t pending = 0;
  reduction kind = reduction::sum;
  bool uneven = false;
  std::uint8_t manual = 0;
  grain grains[max_rank]{};

  [[nodiscard]] constexpr int rank() const noexcept { return dims.ssize(); }
  [[nodiscard]] constexpr bool is_pending(int axis) const noexcept {
    return (pending >> axis & 1) != 0;
  }

  /// Returns true if every dimension is split into contiguous parts.
  [[nodiscard]] constexpr bool is_contiguous() const noexcept {
    for (int d = 0; d < rank(); ++d)
      if (!grains[d].is_contiguous()) return false;
    return true;
  }
  /// True if a dimension has a halo.
  [[nodiscard]] constexpr bool has_halo() const noexcept {
    for (int d = 0; d < rank(); ++d)
      if (grains[d].is_halo()) return true;
    return false;
  }
  /// Returns the layout without halos.
  [[nodiscard]] constexpr layout_desc without_halos() const noexcept {
    layout_desc own = *this;
    for (int d = 0; d < rank(); ++d)
      if (grains[d].is_halo()) own.grains[d] = {};
    return own;
  }
  /// Removes the axes and the grain of a dimension.
  constexpr void unsplit(int d) noexcept {
    dims[d].clear();
    if (!grains[d].is_contiguous()) grains[d] = {};
  }
  /// Applies a policy: under `single_cut` every dimension of several axes is cut once. Exact
  /// layouts are always cut axis by axis, which is the same for them.
  constexpr void follow(policy_desc policy) noexcept {
    uneven = policy.is_uneven;
    for (int d = 0; d < rank(); ++d) {
      if (policy.cuts_once && dims[d].size() > 1 && grains[d].is_contiguous())
        grains[d] = grain::single_cut();
      if (!policy.is_uneven && grains[d].is_single_cut()) grains[d] = {};
    }
  }

  /// Returns the dimension that the axis splits, or -1.
  [[nodiscard]] constexpr int dim_of(std::uint8_t axis) const noexcept {
    for (int d = 0; d < rank(); ++d)
      if (dims[d].contains(axis)) return d;
    return -1;
  }
  /// Returns every axis that splits a dimension, dimension by dimension.
  [[nodiscard]] constexpr axis_list splitting_axes() const noexcept {
    axis_list all;
    for (const axis_list& dim : dims)
      for (std::uint8_t axis : dim) all.push_back(axis);
    return all;
  }
  /// Return the pending axes and the manual axes, in mesh order.
  [[nodiscard]] constexpr axis_list pending_axes() const noexcept { return axes_of(pending); }
  [[nodiscard]] constexpr axis_list manual_axes() const noexcept { return axes_of(manual); }

  friend constexpr bool operator==(const layout_desc&, const layout_desc&) = default;

 private:
  [[nodiscard]] static constexpr axis_list axes_of(unsigned bits) noexcept {
    axis_list axes;
    for (std::uint8_t a = 0; a < max_axes; ++a)
      if ((bits >> a & 1U) != 0) axes.push_back(a);
    return axes;
  }
};

namespace internal {
/// Returns the axes among these that have several devices or a size not known yet. A sum over one
/// device is not pending, so every operation accepts axes of size 1.
[[nodiscard]] constexpr unsigned axes_of_several(const mesh_desc& mesh, unsigned bits) noexcept {
  for (int a = 0; a < mesh.rank(); ++a)
    if (mesh.size(a) == 1) bits &= ~(1U << a);
  return bits;
}

}  // namespace internal

/// Returns, as bits, the pending axes of `to` that are not pending in `from` with the same
/// reduction.
[[nodiscard]] constexpr unsigned created_pending(const layout_desc& from,
                                                 const layout_desc& to) noexcept {
  const unsigned added = to.pending & ~unsigned{from.pending};
  return added != 0 || to.kind == from.kind ? added : to.pending;
}

/// A layout, or the diagnosis that tells why there is none.
struct resolved_layout {
  layout_desc layout{};
  diagnosis verdict{};
};

namespace detail {

/// Returns where the grain of an entry begins: at a `%`, `*` or `~`, or at its end.
[[nodiscard]] constexpr std::size_t grain_begin(text_view entry) noexcept {
  std::size_t at = 0;
  while (at < entry.size() && entry[at] != '%' && entry[at] != '*' && entry[at] != '~') ++at;
  return at;
}

/// Returns the halo of `~3:2`, 3 elements before and 2 after, or a contiguous grain if the text is
/// malformed. Both are plain numbers below 2^15, and not both 0.
[[nodiscard]] constexpr grain read_halo(text_view words) noexcept {
  index_t sides[2] = {};
  int side = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const char c = words[i];
    const bool is_first = words[i - 1] < '0' || words[i - 1] > '9';
    if (c == ':' && side == 0 && !is_first && i + 1 < words.size()) {
      side = 1;
      continue;
    }
    if (c < '0' || c > '9' || (sides[side] == 0 && !is_first)) return {};
    sides[side] = sides[side] * 10 + (c - '0');
    if (sides[side] >= grain::halo_end) return {};
  }
  return side == 0 ? grain{} : grain::halo(sides[0], sides[1]);
}

/// Returns the grain of `%32` (blocks of 32), `*2` (2 chunks), `*1` (a single cut) or `~3:2` (a
/// halo), or a contiguous grain if the text is malformed. Numbers are plain, from 1 to 2^30.
[[nodiscard]] constexpr grain read_grain(text_view words) noexcept {
  if (words[0] == '~') return read_halo(words);
  index_t number = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const char c = words[i];
    if (c < '0' || c > '9' || (c == '0' && number == 0)) return {};
    number = number * 10 + (c - '0');
    if (number > grain::largest) return {};
  }
  if (number < 1) return {};
  return words[0] == '%' ? grain::cyclic(number) : grain::strided(number);
}

}  // namespace detail

namespace internal {

/// Reads the axes of one entry into `axes`; `used` has the bits of axes used by earlier entries.
[[nodiscard]] constexpr diagnosis resolve_entry(const mesh_desc& mesh, text_view entry, int dim,
                                                std::uint8_t& used, axis_list& axes) noexcept {
  if (entry.empty()) return {};
  const char* const words = entry.data();
  const std::size_t size = entry.size();
  for (std::size_t begin = 0, end = 0; begin <= size; begin = end + 1) {
    for (end = begin; end < size && words[end] != ',';) ++end;
    const text_view label(words + begin, end - begin);
    const int axis = mesh.find(label);
    const auto refuse = [&](violation rule) {
      return diagnosis{.rule = rule, .dim = dim, .axis = short_name(label)};
    };
    if (axis < 0)
      return refuse(is_axis_name(label) ? violation::axis_is_not_in_mesh
                                        : violation::spec_is_malformed);
    if ((used >> axis & 1) != 0) return refuse(violation::axis_is_used_twice);
    used = static_cast<std::uint8_t>(used | 1U << axis);
    axes.push_back(static_cast<std::uint8_t>(axis));
  }
  return {};
}

}  // namespace internal

/// Resolves names to a layout on a mesh. Checks that there are not too many entries, that each
/// entry and its grain are well formed, that its axes are in the mesh, that no axis is used twice
/// or both splits a dimension and is pending or manual, and that pending and manual axes are in
/// mesh order.
[[nodiscard]] constexpr resolved_layout resolve(const mesh_desc& mesh, const spec_desc& spec,
                                                const partial_desc& partial = {},
                                                policy_desc policy = exact{}) noexcept {
  resolved_layout result;
  layout_desc& layout = result.layout;
  if (spec.rank() > max_rank) {
    result.verdict = {.rule = violation::rank_is_too_high, .dim = max_rank};
    return result;
  }
  layout.kind = partial.axes.empty() ? reduction::sum : partial.kind;
  layout.dims.resize(spec.dims.size());
  std::uint8_t used = 0;
  for (int d = 0; d < spec.rank(); ++d) {
    const text_view entry = spec.dims[d];
    const std::size_t end = detail::grain_begin(entry);
    result.verdict =
        internal::resolve_entry(mesh, text_view(entry.data(), end), d, used, layout.dims[d]);
    if (result.verdict.ok() && end < entry.size()) {
      const text_view words = entry.substr(end, entry.size());
      layout.grains[d] = detail::read_grain(words).over(layout.dims[d].ssize());
      if (layout.grains[d].is_contiguous())
        result.verdict = {
            .rule = violation::grain_is_malformed, .dim = d, .axis = short_name(words)};
    }
    if (!result.verdict.ok()) return result;
  }
  layout.follow(policy);
  axis_list axes;
  if (!partial.axes.empty()) {
    std::uint8_t pending = 0;
    result.verdict = internal::resolve_entry(mesh, partial.axes, -1, pending, axes);
    if (!result.verdict.ok()) return result;
    for (int i = 0; i < axes.ssize(); ++i) {
      const short_name& label = mesh.axes[axes[i]].label;
      if ((unsigned{used} >> axes[i] & 1U) != 0)
        result.verdict = {.rule = violation::partial_axis_also_splits,
                          .dim = layout.dim_of(axes[i]),
                          .axis = label};
      else if (i > 0 && axes[i] < axes[i - 1])
        result.verdict = {.rule = violation::pending_axes_are_out_of_order, .axis = label};
      if (!result.verdict.ok()) return result;
    }
    // A reduction over one device is the value itself.
    layout.pending = static_cast<std::uint8_t>(internal::axes_of_several(mesh, pending));
    if (layout.pending == 0) layout.kind = reduction::sum;
  }
  if (!partial.manual.empty()) {
    for (std::uint8_t a : axes) used = static_cast<std::uint8_t>(used | 1U << a);
    axes.clear();
    result.verdict = internal::resolve_entry(mesh, partial.manual, -1, used, axes);
    for (int i = 1; i < axes.ssize() && result.verdict.ok(); ++i)
      if (axes[i] < axes[i - 1])
        result.verdict = {.rule = violation::manual_axis_is_used, .axis = mesh.axes[axes[i]].label};
    if (!result.verdict.ok()) {
      result.verdict.rule = violation::manual_axis_is_used;
      return result;
    }
    for (int i = 0; i < axes.ssize(); ++i)
      layout.manual = static_cast<std::uint8_t>(layout.manual | 1U << axes[i]);
  }
  return result;
}

}  // namespace shardwise
