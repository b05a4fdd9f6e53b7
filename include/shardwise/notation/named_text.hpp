// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/hlo_text.hpp"
#include "shardwise/notation/named_sharding.hpp"

namespace shardwise {

/// How names are written: `'x'` in current HLO, `x` in older HLO, `"x"` in Shardy.
enum class quote_style : char { bare = '\0', single = '\'', doubled = '"' };

/// A named sharding, or the reason why there is none.
struct named_result {
  named_sharding sharding{};
  parse_verdict verdict{};
};

namespace detail {

/// Reads a name with or without quotes; empty after a failure.
[[nodiscard]] constexpr text_view read_name(text_reader& in) noexcept {
  const char quote = in.peek() == '\'' || in.peek() == '"' ? in.peek() : '\0';
  in.accept(quote);
  const std::size_t begin = in.here();
  const text_view label = in.word();
  if (!is_axis_name(label))
    in.fail_at(begin, "a name is a letter or _ and up to 22 more letters, digits or _");
  if (quote != '\0' && !in.accept(quote)) in.fail("a name ends as it begins");
  return in.ok() ? label : text_view{};
}

/// Reads axes up to the bracket: `'x'=2,'y'=4]`.
[[nodiscard]] constexpr mesh_desc read_mesh_axes(text_reader& in) noexcept {
  mesh_desc mesh;
  index_t count = 1;
  in.expect('[', "a mesh begins with [");
  while (in.ok() && !(mesh.rank() == 0 && in.peek() == ']')) {
    const std::size_t begin = in.here();
    const text_view label = read_name(in);
    in.expect('=', "an axis has a size");
    const index_t size = in.number(max_tile_devices, "a size is a number up to 2^30");
    if (in.ok() && size < 1) in.fail_at(begin, "a size is at least 1");
    if (in.ok() && count > max_tile_devices / size)
      in.fail_at(begin, "there are at most 2^30 devices");
    if (in.ok() && mesh.find(label) >= 0)
      in.fail_at(begin, "the axes of a mesh have different names");
    if (in.ok() && mesh.axes.full()) in.fail_at(begin, "a mesh has at most 7 axes");
    if (!in.ok()) break;
    count *= size;
    mesh.axes.push_back({short_name(label), size});
    if (!in.accept(',')) break;
  }
  in.expect(']', "a mesh ends with ]");
  return in.ok() ? mesh : mesh_desc{};
}

/// Reads an axis or a part: `'x'` or `'x':(2)4`.
[[nodiscard]] constexpr axis_ref read_axis_ref(text_reader& in, const mesh_desc& mesh,
                                               axis_uses& uses, const axis_refs& before,
                                               bool in_order) noexcept {
  const std::size_t begin = in.here();
  const text_view label = read_name(in);
  const int axis = mesh.find(label);
  if (in.ok() && axis < 0) in.fail_at(begin, "axes are those of the mesh");
  if (!in.ok()) return {};
  axis_ref ref{static_cast<std::uint8_t>(axis)};
  if (in.accept(':')) {
    in.expect('(', "a sub-axis reads x:(1)2");
    ref.pre = in.number(max_tile_devices, "the size before a sub-axis is at least 1");
    in.expect(')', "a sub-axis reads x:(1)2");
    ref.size = in.number(max_tile_devices, "a sub-axis has a size above 1");
    if (in.ok() && ref.size < 2) in.fail_at(begin, "a sub-axis has a size above 1");
  }
  if (in.ok())
    if (const text_view reason = uses.use(ref, before, in_order); !reason.empty())
      in.fail_at(begin, reason);
  return ref;
}

/// Reads a set of axes in the order of the mesh: `{'x', 'y':(1)2}`.
[[nodiscard]] constexpr axis_refs read_axis_set(text_reader& in, const mesh_desc& mesh,
                                                axis_uses& uses) noexcept {
  axis_refs refs;
  in.expect('{', "axes are in braces");
  if (in.accept('}')) return refs;
  do {
    const axis_ref ref = read_axis_ref(in, mesh, uses, refs, true);
    if (in.ok()) refs.push_back(ref);
  } while (in.accept(','));
  in.expect('}', "axes are in braces");
  return refs;
}

/// Reads the dimensions: `[{'x', ?}p1, {}]`; priorities only if they are part of the notation.
constexpr void read_named_dims(text_reader& in, named_sharding& sharding, axis_uses& uses,
                               bool priorities) noexcept {
  in.expect('[', "dimensions are in brackets");
  if (in.accept(']')) return;
  do {
    const std::size_t begin = in.here();
    named_dim dim;
    in.expect('{', "a dimension is in braces");
    while (in.ok() && in.peek() != '}') {
      if (in.accept('?')) {
        dim.open = true;
        break;
      }
      const axis_ref ref = read_axis_ref(in, sharding.on.mesh, uses, dim.axes, false);
      if (in.ok()) dim.axes.push_back(ref);
      if (!in.accept(',')) break;
    }
    in.expect('}', "a dimension ends with }");
    if (priorities && in.peek() == 'p') {
      const text_view word = in.word();
      text_reader digits(word.substr(1, word.size()));
      dim.priority = digits.number(max_tile_devices, "a priority is a number");
      if (!digits.finish().ok() || (word.size() > 2 && word[1] == '0'))
        in.fail_at(begin, "a priority reads p0, p1, ...");
    }
    if (const text_view reason = why_not(dim); in.ok() && !reason.empty())
      in.fail_at(begin, reason);
    if (in.ok() && sharding.dims.full()) in.fail_at(begin, "a tensor has at most 8 dimensions");
    if (in.ok()) sharding.dims.push_back(dim);
  } while (in.accept(','));
  in.expect(']', "dimensions are in brackets");
}

/// Reads `replicated={..}`, `unreduced={..}`, `unreduced=max{..}` and `manual={..}`, each after a
/// comma and in this order.
constexpr void read_named_sets(text_reader& in, named_sharding& sharding,
                               axis_uses& uses) noexcept {
  constexpr text_view labels[] = {"replicated", "unreduced", "manual"};
  axis_refs* const sets[] = {&sharding.replicated, &sharding.unreduced, &sharding.manual};
  int next = 0;
  while (in.accept(',')) {
    while (next < 3 && !in.accept(labels[next])) ++next;
    if (next == 3) in.fail("replicated, unreduced and manual axes follow, in this order");
    in.expect('=', "axes follow =");
    if (next == 1 && in.peek() != '{') {
      const std::size_t begin = in.here();
      const text_view word = in.word();
      int kind = 0;
      while (kind < reduction_count && !(to_text(static_cast<reduction>(kind)) == word)) ++kind;
      if (kind == reduction_count)
        in.fail_at(begin, "axes are unreduced by sum, product, max or min");
      if (in.ok()) sharding.kind = static_cast<reduction>(kind);
    }
    if (in.ok()) *sets[next++] = read_axis_set(in, sharding.on.mesh, uses);
    if (!in.ok()) return;
  }
  if (sharding.unreduced.empty()) sharding.kind = reduction::sum;
}

/// Takes the devices of a mesh from the buffer; returns none if they are 0, 1, 2, ...
[[nodiscard]] constexpr device_view keep_devices(device_buffer& buffer, const index_t* list,
                                                 index_t count) noexcept {
  const bool plain = is_plain({list, count});
  if (plain) buffer.give_back(count);
  return plain ? device_view{} : device_view{list, count};
}

/// Reads the devices of a mesh up to the closing bracket: `0,2,1,3` or `[2,2]T(1,0)`.
constexpr void read_mesh_devices(text_reader& in, named_mesh& on, device_buffer& buffer) noexcept {
  const index_t count = on.mesh.devices();
  iota_order order;
  if (in.peek() == '[') order = read_order(in, count);
  if (!in.ok()) return;
  index_t* const list = buffer.take(count);
  if (list == nullptr) {
    in.fail("the buffer has room for every device");
    return;
  }
  if (order.sizes.empty())
    read_devices(in, list, count);
  else
    for (index_t i = 0; i < count; ++i) list[i] = order.at(i);
  if (in.ok()) on.devices = keep_devices(buffer, list, count);
}

template <TextSink Out>
constexpr void write_name(Out& out, text_view label, quote_style quote) {
  if (quote != quote_style::bare) out << static_cast<char>(quote);
  out << label;
  if (quote != quote_style::bare) out << static_cast<char>(quote);
}

template <TextSink Out>
constexpr void write_axis_refs(Out& out, const mesh_desc& mesh, const axis_refs& refs,
                               quote_style quote) {
  text_view separator{};
  for (const axis_ref& ref : refs) {
    out << separator;
    write_name(out, mesh.axes[ref.axis].label, quote);
    if (!ref.whole()) out << ":(" << ref.pre << ')' << ref.size;
    separator = ", ";
  }
}

template <TextSink Out>
constexpr void write_mesh_axes(Out& out, const mesh_desc& mesh, quote_style quote,
                               text_view separator) {
  for (int a = 0; a < mesh.rank(); ++a) {
    if (a > 0) out << separator;
    write_name(out, mesh.axes[a].label, quote);
    out << '=' << mesh.size(a);
  }
}

template <TextSink Out>
constexpr void write_named_dims(Out& out, const named_sharding& sharding, quote_style quote) {
  out << '[';
  for (int d = 0; d < sharding.rank(); ++d) {
    const named_dim& dim = sharding.dims[d];
    if (d > 0) out << ", ";
    out << '{';
    write_axis_refs(out, sharding.on.mesh, dim.axes, quote);
    if (dim.open) out << (dim.axes.empty() ? text_view("?") : text_view(", ?"));
    out << '}';
    if (dim.priority >= 0 && quote == quote_style::doubled) out << 'p' << dim.priority;
  }
  out << ']';
}

template <TextSink Out>
constexpr void write_named_sets(Out& out, const named_sharding& sharding, quote_style quote) {
  const auto set = [&](text_view label, const axis_refs& refs) {
    if (refs.empty()) return;
    out << ", " << label << '=';
    if (&refs == &sharding.unreduced && sharding.kind != reduction::sum)
      out << to_text(sharding.kind);
    out << '{';
    write_axis_refs(out, sharding.on.mesh, refs, quote);
    out << '}';
  };
  set("replicated", sharding.replicated);
  set("unreduced", sharding.unreduced);
  set("manual", sharding.manual);
}

}  // namespace detail
}  // namespace shardwise
