// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/named_text.hpp"

namespace shardwise {

/// The axes that a Shardy collective gathers, slices or scatters, for each dimension; an all_reduce
/// has a single list, which belongs to no dimension.
using axis_lists = inplace_vector<axis_refs, max_rank>;

/// The axes that an all_to_all moves from one dimension to another.
struct axis_move {
  axis_refs axes{};
  int from = 0;
  int to = 0;

  friend constexpr bool operator==(const axis_move&, const axis_move&) = default;
};

/// The moves of an all_to_all.
using axis_moves = inplace_vector<axis_move, max_rank>;

/// Lists of axes, or the reason why there are none.
struct axis_lists_result {
  axis_lists lists{};
  parse_verdict verdict{};
};

/// Moves of axes, or the reason why there are none.
struct axis_moves_result {
  axis_moves moves{};
  parse_verdict verdict{};
};

namespace detail {

/// Reads axes in any order: `{"y", "x":(1)2}`.
[[nodiscard]] constexpr axis_refs read_axis_list(text_reader& in, const mesh_desc& mesh,
                                                 axis_uses& uses) noexcept {
  axis_refs refs;
  in.expect('{', "axes are in braces");
  if (in.accept('}')) return refs;
  do {
    const axis_ref ref = read_axis_ref(in, mesh, uses, refs, false);
    if (in.ok()) refs.push_back(ref);
  } while (in.accept(','));
  in.expect('}', "axes are in braces");
  return refs;
}

/// Reads the number of a dimension.
[[nodiscard]] constexpr int read_dim(text_reader& in) noexcept {
  return static_cast<int>(in.number(max_rank - 1, "a tensor has at most 8 dimensions"));
}

template <TextSink Out>
constexpr void write_axis_list(Out& out, const mesh_desc& mesh, const axis_refs& refs) {
  out << '{';
  write_axis_refs(out, mesh, refs, quote_style::doubled);
  out << '}';
}

}  // namespace detail

/// Reads the axes of a Shardy collective: `[{"x"}, {}]` of an all_gather, an all_slice or a
/// reduce_scatter, `{"y"}` of an all_reduce. Each axis may be used once.
[[nodiscard]] constexpr axis_lists_result parse_axis_lists(text_view words,
                                                           const mesh_desc& mesh) noexcept {
  axis_lists_result result;
  text_reader in(words);
  detail::axis_uses uses(mesh);
  if (in.peek() == '{') {
    result.lists.push_back(detail::read_axis_list(in, mesh, uses));
  } else {
    in.expect('[', "axes are in braces, those of several dimensions in brackets");
    while (in.ok() && in.peek() != ']') {
      if (result.lists.full()) in.fail("a tensor has at most 8 dimensions");
      const axis_refs refs = detail::read_axis_list(in, mesh, uses);
      if (in.ok()) result.lists.push_back(refs);
      if (!in.accept(',')) break;
    }
    in.expect(']', "axes of several dimensions are in brackets");
  }
  result.verdict = in.finish();
  if (!result.verdict.ok()) result.lists = {};
  return result;
}

/// Writes the axes of an all_gather, an all_slice or a reduce_scatter: `[{"x"}, {}]`.
template <TextSink Out>
constexpr Out& write_axis_lists(Out& sink, const mesh_desc& mesh, const axis_lists& lists) {
  internal::text_out<Out> out(sink);
  out << '[';
  for (int d = 0; d < lists.ssize(); ++d) {
    if (d > 0) out << ", ";
    detail::write_axis_list(out, mesh, lists[d]);
  }
  out << ']';
  return sink;
}

/// Writes the axes of an all_reduce: `{"y"}`.
template <TextSink Out>
constexpr Out& write_axis_list(Out& sink, const mesh_desc& mesh, const axis_refs& refs) {
  internal::text_out<Out> out(sink);
  detail::write_axis_list(out, mesh, refs);
  return sink;
}

/// Reads the moves of an all_to_all: `[{"x"}: 0->2, {"y"}: 1->3]`. Each moves some axes from one
/// dimension to another. A dimension takes part in one move, and moves are sorted by their source.
[[nodiscard]] constexpr axis_moves_result parse_axis_moves(text_view words,
                                                           const mesh_desc& mesh) noexcept {
  axis_moves_result result;
  text_reader in(words);
  detail::axis_uses uses(mesh);
  unsigned met = 0;
  const auto dim = [&] {
    const std::size_t begin = in.here();
    const int d = detail::read_dim(in);
    if (in.ok() && (met >> d & 1U) != 0) in.fail_at(begin, "a dimension is in one move");
    met |= 1U << d;
    return d;
  };
  in.expect('[', "moves are in brackets");
  do {
    axis_move move;
    const std::size_t begin = in.here();
    move.axes = detail::read_axis_list(in, mesh, uses);
    if (in.ok() && move.axes.empty()) in.fail_at(begin, "a move takes some axes");
    in.expect(':', "a move reads {\"x\"}: 0->2");
    const std::size_t source = in.here();
    move.from = dim();
    if (in.ok() && !result.moves.empty() && move.from < result.moves.back().from)
      in.fail_at(source, "moves are in the order of the dimensions that they take from");
    in.expect("->", "a move reads {\"x\"}: 0->2");
    move.to = dim();
    if (in.ok()) result.moves.push_back(move);
  } while (in.accept(','));
  in.expect(']', "moves are in brackets");
  result.verdict = in.finish();
  if (!result.verdict.ok()) result.moves = {};
  return result;
}

/// Writes the moves of an all_to_all.
template <TextSink Out>
constexpr Out& write_axis_moves(Out& sink, const mesh_desc& mesh, const axis_moves& moves) {
  internal::text_out<Out> out(sink);
  text_view separator = "[";
  for (const axis_move& move : moves) {
    out << separator;
    detail::write_axis_list(out, mesh, move.axes);
    out << ": " << static_cast<index_t>(move.from) << "->" << static_cast<index_t>(move.to);
    separator = ", ";
  }
  out << (moves.empty() ? text_view("[]") : text_view("]"));
  return sink;
}

}  // namespace shardwise
