// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/slice.hpp"

namespace shardwise::detail {

/// How the devices that split a dimension scan it without gathering it: each scans its own part,
/// the totals of the parts are gathered and scanned, and each device combines the total of the
/// parts before its own with its elements. The parts are a dimension of their own in between, so
/// that the last one is filled up if it is short, and empty ones are filled.
struct scan_parts {
  int dim = 0;
  /// The number of parts; 0 if the dimension cannot be scanned in this way.
  index_t parts = 0;
  extents_desc whole{};

  [[nodiscard]] constexpr bool is_possible() const noexcept { return parts > 0; }
  [[nodiscard]] constexpr index_t part() const noexcept { return ceil_div(whole[dim], parts); }
  [[nodiscard]] constexpr index_t missing() const noexcept { return parts * part() - whole[dim]; }

  // The attributes of the steps.
  [[nodiscard]] constexpr attributes fill() const noexcept {
    return pad_operation::how_along(whole.ssize(), dim, 0, missing());
  }
  [[nodiscard]] constexpr attributes divide() const noexcept {
    extents_desc out;
    for (int d = 0; d < whole.ssize(); ++d) {
      if (d == dim) out.push_back(parts);
      out.push_back(d == dim ? part() : whole[d]);
    }
    return reshape_operation::how(out);
  }
  [[nodiscard]] constexpr attributes within_parts() const noexcept {
    return integer_attributes(dim + 1);
  }
  [[nodiscard]] constexpr attributes last() const noexcept {
    return slice_operation::how(dim + 1, part() - 1, part(), 1, true);
  }
  [[nodiscard]] constexpr attributes over_parts() const noexcept { return integer_attributes(dim); }
  [[nodiscard]] constexpr attributes drop_last() const noexcept {
    return slice_operation::how(dim, 0, parts - 1, 1);
  }
  [[nodiscard]] constexpr attributes move_on() const noexcept {
    return pad_operation::how_along(whole.ssize(), dim, 1, 0);
  }
  [[nodiscard]] constexpr attributes join() const noexcept {
    extents_desc out = whole;
    out[dim] = parts * part();
    return reshape_operation::how(out);
  }
  [[nodiscard]] constexpr attributes trim() const noexcept {
    return slice_operation::how(dim, 0, whole[dim], 1);
  }

  /// Plans to scan a dimension, if devices may communicate over `permitted` axes, a bit mask. It is
  /// possible if nothing is pending, and these axes split the dimension, whose size is known, into
  /// contiguous parts of the same size, of which the last ones may be short or empty.
  [[nodiscard]] static constexpr scan_parts of(const mesh_desc& mesh, const tensor_desc& x,
                                               index_t scanned, unsigned permitted) noexcept {
    const layout_desc& layout = x.layout;
    if (scanned < 0 || scanned >= x.rank() || x.rank() == max_rank || layout.rank() != x.rank() ||
        layout.pending != 0 || layout.manual != 0)
      return {};
    const auto d = static_cast<int>(scanned);
    const axis_list& axes = layout.dims[d];
    const index_t size = x.extents[d];
    const unsigned needed = bits_of(real_axes(mesh, axes));
    if (needed == 0 || (needed & ~permitted) != 0 || size == dyn || size == 0 ||
        mesh.parts(axes) == dyn || !is_cut_alike(mesh, axes, size) ||
        !said_by_axis(mesh, axes, layout.grains[d], size).is_contiguous())
      return {};
    const scan_parts out{d, mesh.parts(axes), x.extents};
    if (out.missing() != 0 && !layout.uneven) return {};
    return out.divides(mesh, x) ? out : scan_parts{};
  }

 private:
  /// True if the axes of the dimension are those of the parts.
  [[nodiscard]] constexpr bool divides(const mesh_desc& mesh, tensor_desc x) const noexcept {
    x.extents[dim] = parts * part();
    const attributes how = divide();
    if (!reshape_operation::check(how, {x}).ok()) return false;
    const propagation made = propagate(mesh, reshape_operation::rule(how, {x}), {x});
    return made.verdict.ok() &&
           real_axes(mesh, made.result.layout.dims[dim]) == real_axes(mesh, x.layout.dims[dim]);
  }
};

}  // namespace shardwise::detail
