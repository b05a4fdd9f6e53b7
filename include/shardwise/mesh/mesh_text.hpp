// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/mesh_desc.hpp"

namespace shardwise::detail {

/// Writes one axis of a mesh's text: `data=2`, `data=?` where the size is dyn. A `=` in a label,
/// which no rule takes for a name, is written twice.
template <std::size_t Capacity>
constexpr void write_axis(text<Capacity>& out, text_view label, index_t size) noexcept {
  if (!out.empty()) out << ", ";
  for (char c : label) {
    out << c;
    if (c == '=') out << c;
  }
  out << '=';
  if (size == dyn)
    out << '?';
  else
    out << size;
}

/// The text of the axes of a mesh, major to minor: `data=2, model=4`. It says everything of any
/// axes, legal or not.
template <class... Axes>
[[nodiscard]] consteval auto mesh_text() noexcept {
  constexpr auto words = [] {
    // A label, the separators, and the 20 characters of the longest number.
    text<(std::size_t{1} + ... + (2 * Axes::label.size() + 23))> out;
    (write_axis(out, Axes::label, Axes::size), ...);
    return out;
  }();
  return to_fixed_string<words.size()>(words);
}

/// What the text of a mesh says.
struct parsed_mesh {
  /// The first axes, as many as a mesh may have; labels that are too long keep their beginning.
  mesh_desc value{};
  int axes = 0;
  bool has_long_label = false;
};

/// Reads the text of a mesh. Where `, ` is missing between two axes the second's label begins with
/// a blank, and an axis without a size has 0 devices: the rules of meshes refuse both.
[[nodiscard]] constexpr parsed_mesh parse_mesh(text_view words) noexcept {
  parsed_mesh mesh;
  std::size_t at = 0;
  const auto next_is = [&](char c) { return at < words.size() && words[at] == c; };
  while (at < words.size()) {
    text<name::capacity> label;
    if (mesh.axes > 0) {
      if (words.substr(at, 2) == ", ")
        at += 2;
      else
        label << ' ';
    }
    std::size_t length = label.size();
    for (; at < words.size(); ++length) {
      const char c = words[at++];
      if (c == '=' && !next_is('=')) break;
      if (c == '=') ++at;
      if (length < name::capacity) label << c;
    }
    const bool negative = next_is('-');
    if (negative) ++at;
    std::uint64_t size = 0;
    for (; at < words.size() && words[at] >= '0' && words[at] <= '9'; ++at)
      size = size * 10 + static_cast<std::uint64_t>(words[at] - '0');
    const bool unknown = next_is('?');
    if (unknown) ++at;
    mesh.has_long_label = mesh.has_long_label || length > name::capacity;
    if (mesh.axes++ < max_axes)
      mesh.value.axes.push_back(
          {name(label), unknown ? dyn : static_cast<index_t>(negative ? 0 - size : size)});
  }
  return mesh;
}

}  // namespace shardwise::detail
