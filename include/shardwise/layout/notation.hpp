// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/element.hpp"
#include "shardwise/layout/layout.hpp"

namespace shardwise {

/// Writes the axes of a dimension: `x`, or `(x,y)` for several.
template <std::size_t N>
constexpr bounded_text<N>& write_axes(bounded_text<N>& out, const mesh_desc& mesh,
                                      const axis_list& axes) noexcept {
  if (axes.size() > 1) out << '(';
  for (int i = 0; i < axes.ssize(); ++i) {
    if (i > 0) out << ',';
    out << mesh.axes[axes[i]].label;
  }
  if (axes.size() > 1) out << ')';
  return out;
}

/// Writes a grain as in the entry of a spec: `%32`, `*2`, `*1` for a single cut, `~3:2` for a halo,
/// or nothing if it is contiguous.
template <std::size_t N>
constexpr bounded_text<N>& operator<<(bounded_text<N>& out, grain how) noexcept {
  if (how.is_contiguous()) return out;
  if (how.is_halo()) return out << '~' << how.before() << ':' << how.behind();
  return out << (how.is_cyclic() ? '%' : '*') << how.number();
}

/// Writes how a dimension is split: `x`, `(x,y)`, or `(x,y)%32` with a grain.
template <std::size_t N>
constexpr bounded_text<N>& write_split(bounded_text<N>& out, const mesh_desc& mesh,
                                       const layout_desc& layout, int d) noexcept {
  return write_axes(out, mesh, layout.dims[d]) << layout.grains[d];
}

/// Writes pending axes, `{partial sum: x, y}`, manual axes, `{manual: z}`, or nothing.
template <std::size_t N>
constexpr bounded_text<N>& write_pending(bounded_text<N>& out, const mesh_desc& mesh,
                                         const layout_desc& layout) noexcept {
  const auto write_set = [&](const axis_list& axes) {
    for (int i = 0; i < axes.ssize(); ++i)
      out << (i > 0 ? text_view(", ") : text_view(": ")) << mesh.axes[axes[i]].label;
    out << '}';
  };
  if (layout.pending != 0) {
    out << "{partial " << to_text(layout.kind);
    write_set(layout.pending_axes());
  }
  if (layout.manual != 0) {
    out << "{manual";
    write_set(layout.manual_axes());
  }
  return out;
}

/// Writes a tensor in the notation of the library: `f32[512@data, 1024@(x,y), 64]{partial sum:
/// model}`, `f32[512@x%32]` for blocks of 32 distributed round-robin, `f32[512@x*2]` for a part of
/// each of 2 chunks, `f32[5@(x,y)*1]` for a single cut over both axes. An unknown extent is `?`.
/// Uneven layouts have no mark of their own; the sizes show whether shards are uneven.
template <std::size_t N>
constexpr bounded_text<N>& write_tensor(bounded_text<N>& out, element type, const mesh_desc& mesh,
                                        const extents_desc& extents,
                                        const layout_desc& layout) noexcept {
  out << to_text(type) << '[';
  for (int d = 0; d < layout.rank(); ++d) {
    if (d > 0) out << ", ";
    if (extents[d] == dyn)
      out << '?';
    else
      out << extents[d];
    if (!layout.dims[d].empty()) write_split(out << '@', mesh, layout, d);
  }
  return write_pending(out << ']', mesh, layout);
}

/// Writes a layout without a tensor: `[data, (x,y), -]{partial sum: model}`.
template <std::size_t N>
constexpr bounded_text<N>& write_layout(bounded_text<N>& out, const mesh_desc& mesh,
                                        const layout_desc& layout) noexcept {
  out << '[';
  for (int d = 0; d < layout.rank(); ++d) {
    if (d > 0) out << ", ";
    if (layout.dims[d].empty())
      out << '-';
    else
      write_split(out, mesh, layout, d);
  }
  return write_pending(out << ']', mesh, layout);
}

/// The notation of a type of this library, as a constant.
///
///     static_assert(type_name<pod>() == "mesh(data=2, model=4)");
template <Mesh M>
[[nodiscard]] constexpr message_text type_name() noexcept {
  message_text out;
  out << M::value;
  return out;
}

/// The notation of a layout type: `[data, -] on mesh(data=2, model=4)`.
template <class Layout>
  requires requires {
    Layout::value.dims;
    typename Layout::mesh_type;
  }
[[nodiscard]] constexpr message_text type_name() noexcept {
  message_text out;
  write_layout(out, Layout::mesh_type::value, Layout::value) << " on " << Layout::mesh_type::value;
  return out;
}

}  // namespace shardwise
