// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/ascii.hpp"
#include "shardwise/plan/explain.hpp"
#include "shardwise/plan/redistribute.hpp"

namespace shardwise {

namespace detail {

/// Writes the effect of a collective: `all_gather over model of dimension 1, 768 B received`.
template <std::size_t N>
constexpr bounded_text<N>& write_move(bounded_text<N>& out, const mesh_desc& mesh,
                                      const planned_transfer& step) noexcept {
  out << to_text(step.kind) << " over ";
  write_axes(out, mesh, step.axes);
  if (step.from >= 0 && step.from == step.to)
    out << " within dimension " << step.from;
  else if (step.from >= 0 && step.to >= 0)
    out << " from dimension " << step.from << " to " << step.to;
  else if (step.from >= 0 || step.to >= 0)
    out << " of dimension " << (step.from >= 0 ? step.from : step.to);
  if (step.kind == collective::slice) return out << ", nothing moves";
  out << ", each device receives ";
  write_bytes(out, step.total_bytes());
  return out;
}

}  // namespace detail

/// Draws a reshard: the tensor before it and after each collective, which is described with the
/// bytes that each device receives. If the reshard is invalid, a sentence states the broken rule.
///
///     f32[4@x, 4] on mesh(x=2)
///     ...
///       |  all_gather over x of dimension 0, each device receives 32 B
///       v
///     f32[4, 4] on mesh(x=2)
///     ...
template <class Out>
constexpr void write_reshard(Out& out, const mesh_desc& mesh, const tensor_desc& tensor,
                             const layout_desc& target, const picture_style& style = {}) {
  write_picture(out, mesh, tensor, style);
  if (!internal::is_known(mesh, tensor.extents)) return;
  const redistribution way = redistribute(mesh, tensor, target);
  if (!way.verdict.ok()) {
    out << text_view(describe(way.verdict)) << text_view("\n");
    return;
  }
  tensor_desc now = tensor;
  for (const planned_transfer& step : way.moves) {
    bounded_text<400> words;
    words << "  |  ";
    detail::write_move(words, mesh, step) << "\n  v\n";
    out << text_view(words);
    now.layout = step.after;
    write_picture(out, mesh, now, style);
  }
}

/// Draws on a stream, with the name of all functions that do.
template <class Stream>
void visualize(Stream& out, const mesh_desc& mesh, const tensor_desc& tensor,
               const layout_desc& target, const picture_style& style = {}) {
  write_reshard(out, mesh, tensor, target, style);
}

}  // namespace shardwise
