// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/open_layout.hpp"
#include "shardwise/notation/named_text.hpp"

namespace shardwise {

/// An open layout, or the reason why there is none.
struct read_open_layout {
  open_layout layout{};
  parse_verdict verdict{};
};

/// Reads the layout of a value from which propagation starts, in the notation of Shardy. Axes are
/// those of the mesh, as a whole; priorities are up to p255.
///
///     parse_open_layout("[{\"data\", ?}, {}]", mesh).layout.is_closed(1);   // true
///     parse_open_layout("[{?}, {?}], replicated={\"model\"}", mesh);
[[nodiscard]] constexpr read_open_layout parse_open_layout(text_view words,
                                                           const mesh_desc& mesh) noexcept {
  named_sharding sharding;
  sharding.on = named_mesh{mesh_desc{mesh.axes}};
  text_reader in(words);
  detail::axis_uses uses(sharding.on.mesh);
  detail::read_named_dims(in, sharding, uses, true);
  detail::read_named_sets(in, sharding, uses);
  read_open_layout result;
  open_layout& out = result.layout;
  const auto take = [&](const axis_ref& ref) {
    if (!ref.whole()) in.fail_at(0, "propagation splits dimensions by whole axes");
    return ref.axis;
  };
  if (!sharding.unreduced.empty() || !sharding.manual.empty())
    in.fail_at(0, "propagation knows no unreduced and no manual axes");
  for (int d = 0; in.ok() && d < sharding.rank(); ++d) {
    const named_dim& dim = sharding.dims[d];
    out.dims.push_back({});
    // Of parts of axes there may be more than a dimension has axes.
    for (const axis_ref& ref : dim.axes)
      if (const std::uint8_t axis = take(ref); in.ok()) out.dims[d].push_back(axis);
    if (!dim.open) out.close(d);
    if (dim.priority > 255) in.fail_at(0, "a priority is at most p255");
    if (dim.priority > 0) out.priorities[d] = static_cast<std::uint8_t>(dim.priority);
  }
  for (const axis_ref& ref : sharding.replicated)
    out.replicated = static_cast<std::uint8_t>(out.replicated | 1U << take(ref));
  result.verdict = in.finish();
  if (!result.verdict.ok()) out = {};
  return result;
}

/// Writes an open layout in the same notation.
///
///     [{"data", ?}, {?}p1], replicated={"model"}
template <TextSink Out>
constexpr Out& write_open_layout(Out& sink, const open_layout& layout, const mesh_desc& mesh) {
  named_sharding sharding;
  sharding.on = named_mesh{mesh_desc{mesh.axes}};
  for (int d = 0; d < layout.rank(); ++d) {
    named_dim dim{.open = !layout.is_closed(d)};
    if (layout.priorities[d] > 0) dim.priority = layout.priorities[d];
    for (std::uint8_t a : layout.dims[d]) dim.axes.push_back({a});
    sharding.dims.push_back(dim);
  }
  for (std::uint8_t a = 0; a < mesh.rank(); ++a)
    if ((layout.replicated >> a & 1) != 0) sharding.replicated.push_back({a});
  internal::text_out<Out> out(sink);
  detail::write_named_dims(out, sharding, quote_style::doubled);
  detail::write_named_sets(out, sharding, quote_style::doubled);
  return sink;
}

/// Returns that text.
[[nodiscard]] constexpr bounded_text<500> to_text(const mesh_desc& mesh,
                                                  const open_layout& layout) noexcept {
  bounded_text<500> words;
  write_open_layout(words, layout, mesh);
  return words;
}

}  // namespace shardwise
