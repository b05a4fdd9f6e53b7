// SPDX-License-Identifier: BSL-1.0
// A sharding as a program: the types of C++, with what they say of themselves.
#pragma once

#include "read_subject.hpp"
#include "text_table.hpp"

namespace tool {

namespace detail {

[[nodiscard]] inline std::string quoted_axes(const mesh_desc& mesh, const axis_list& axes) {
  std::string out;
  for (const std::uint8_t a : axes)
    out += (out.empty() ? "\"" : ", \"") + str(text_view(mesh.axes[a].label)) + "\"";
  return out;
}

/// An entry of `P<...>`; `is_cut_once`: the policy of the layout says it of all dimensions.
[[nodiscard]] inline std::string entry_of(const mesh_desc& mesh, const layout_desc& layout, int d,
                                          bool is_cut_once) {
  const grain how = layout.grains[d];
  const std::string axes = quoted_axes(mesh, layout.dims[d]);
  if (layout.dims[d].empty()) return "none";
  if (how.is_halo()) {
    message_text words;
    for (const std::uint8_t a : layout.dims[d])
      words << (words.empty() ? text_view() : text_view(",")) << text_view(mesh.axes[a].label);
    words << how;
    return "\"" + str(words) + "\"";
  }
  if (how.is_single_cut() && !is_cut_once) return "cut_once(" + axes + ")";
  if (how.is_contiguous() || how.is_single_cut())
    return layout.dims[d].size() == 1 ? axes : "by(" + axes + ")";
  if (how.is_cyclic() && how.number() == 1) return "cyclic(" + axes + ")";
  return (how.is_cyclic() ? "block_cyclic<" : "strided_by<") + std::to_string(how.number()) + ">(" +
         axes + ")";
}

/// The pending and the manual axes, or nothing.
[[nodiscard]] inline std::string pending_of(const mesh_desc& mesh, const layout_desc& layout) {
  const auto several = [&](const axis_list& axes) {
    const std::string words = quoted_axes(mesh, axes);
    return axes.size() > 1 ? "by(" + words + ")" : words;
  };
  std::string out;
  if (layout.pending != 0) {
    out = "partial<" + several(layout.pending_axes());
    if (layout.kind != reduction::sum) out += ", reduction::" + str(to_text(layout.kind));
    out += ">";
  }
  if (layout.manual == 0) return out;
  return "manual<" + several(layout.manual_axes()) + (out.empty() ? "" : ", ") + out + ">";
}

/// The layout as a type on the mesh `pod`.
[[nodiscard]] inline std::string type_of_layout(const mesh_desc& mesh, const layout_desc& layout) {
  bool is_cut_once = false, is_cut_by_axis = false;
  for (int d = 0; d < layout.rank(); ++d) {
    is_cut_once |= layout.grains[d].is_single_cut();
    is_cut_by_axis |= layout.dims[d].size() > 1 && layout.grains[d].is_contiguous();
  }
  is_cut_once = layout.uneven && is_cut_once && !is_cut_by_axis;
  std::string entries;
  for (int d = 0; d < layout.rank(); ++d)
    entries += (d > 0 ? ", " : "") + entry_of(mesh, layout, d, is_cut_once);
  const std::string pending = pending_of(mesh, layout);
  std::string out = "layout<pod, P<" + entries + ">";
  if (layout.uneven)
    out += ", " + (pending.empty() ? "partial<>" : pending) +
           (is_cut_once ? ", single_cut" : ", uneven");
  else if (!pending.empty())
    out += ", " + pending;
  return out + ">";
}

[[nodiscard]] inline std::string type_of(element type) {
  if (type == element::f32) return "float";
  if (type == element::f64) return "double";
  if (type == element::boolean) return "bool";
  return "type_of_element<element::" + str(to_text(type)) + ">";
}

}  // namespace detail

/// The sharding in C++: a mesh, a layout, the tensor where its shape is known, and assertions of
/// what they are called.
[[nodiscard]] inline known<std::string> to_cpp(const subject& about) {
  const auto known_layout = about.layout_as_cut();
  if (!known_layout) return known<std::string>::none(known_layout.why_not);
  const layout_desc& layout = *known_layout;
  mesh_desc mesh = *about.mesh;
  std::string axes;
  for (const axis_desc& axis : mesh.axes)
    axes += (axes.empty() ? "axis<\"" : ", axis<\"") + str(text_view(axis.label)) + "\", " +
            std::to_string(axis.size) + ">";
  std::string out = "#include <shardwise/paper.hpp>\n\nusing namespace shardwise;\n\n";
  std::vector<index_t> places(about.devices.size());
  if (about.devices.empty()) {
    out += "struct pod : mesh<" + axes + "> {};\n";
  } else {
    (void)invert(about.devices, places);  // the devices were judged when they were read
    mesh.order = device_order(about.devices, places);
    out += "inline constexpr index_t devices[] = {" + joined(about.devices, ", ") +
           "};\nstruct pod : ordered_mesh<mesh<" + axes + ">, devices> {};\n";
  }
  out += "using X = " + detail::type_of_layout(mesh, layout) + ";\n";
  message_text words;
  write_layout(words, mesh, layout) << " on " << mesh;
  out += "static_assert(type_name<X>() == \"" + str(words) + "\");\n";
  if (!about.shape) return out;
  const message_text tensor = to_text(mesh, {about.type, *about.shape, layout});
  return out + "static_assert(type_name<sharded_tensor<" + detail::type_of(about.type) +
         ", extents<" + joined(*about.shape, ", ") + ">, X>>() ==\n              \"" + str(tensor) +
         "\");\n";
}

}  // namespace tool
