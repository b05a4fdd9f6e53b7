// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/collective_diagram.hpp"
#include "shardwise/draw/svg_tensor.hpp"
#include "shardwise/plan/manual_operation.hpp"

#include <iterator>

namespace shardwise {

namespace detail {

/// Returns a sentence about what the devices of a group do in a collective.
[[nodiscard]] constexpr text_view what_happens(collective kind) noexcept {
  constexpr text_view words[] = {
      "each device keeps its part of what it holds; nothing is sent",
      "each device sends the others their parts of its term, and reduces what it gets",
      "each device cuts its block and sends every other device a piece",
      "each part is reduced on one device, which then sends it to all others",
      "each device sends its block to all others",
      "each device sends its neighbours the elements that their windows reach",
      "each device sends what it has to one other; who gets nothing has zeros",
      "one device sends what it has to all others"};
  static_assert(std::size(words) == collective_count);
  return words[static_cast<unsigned>(kind)];
}

/// Returns true if all shards of a tensor have the same size.
[[nodiscard]] constexpr bool is_even(const mesh_desc& mesh, const tensor_desc& tensor) noexcept {
  for (int d = 0; d < tensor.rank(); ++d)
    if (tensor.extents[d] % tensor.layout.grains[d].unit(mesh.parts(tensor.layout.dims[d])) != 0)
      return false;
  return true;
}

/// Returns true if no dimension of a tensor has more blocks than a diagram shows.
[[nodiscard]] constexpr bool is_drawable(const mesh_desc& mesh,
                                         const tensor_desc& tensor) noexcept {
  for (int d = 0; d < tensor.rank(); ++d) {
    const picture_dim dim = picture_dim_of(mesh, tensor, d);
    const grained_split split{dim.how, dim.size, mesh.parts(dim.axes)};
    if (!dim.how.is_contiguous() && split.pieces() > index_t{most_parts}) return false;
  }
  return true;
}

/// Returns the diagram of a collective between two tensors, described by `seen`.
[[nodiscard]] inline std::string svg_of_collective(const mesh_desc& mesh, const tensor_desc& from,
                                                   const tensor_desc& to,
                                                   const seen_collective& seen) {
  const planned_transfer& step = seen.step;
  const tensor_desc& before = seen.before;
  bounded_text<400> title;
  title << to_text(step.kind) << " over ";
  write_axes(title, mesh, step.axes);
  if (!is_known(mesh, before.extents)) return svg_of_words(title, "sizes are not known yet");
  if (element_count(before.extents) == 0) return detail::svg_of_words(title, "no elements");
  tensor_desc after = before;
  after.layout = step.after;
  if (!is_drawable(mesh, before) || !detail::is_drawable(mesh, after))
    return detail::svg_of_words(title, "too many blocks to draw");
  detail::svg_document out;
  const index_t x = detail::svg_document::margin;
  out.put_text(x, 28, title, "t ink");
  message_text change = to_text(mesh, from);
  out.put_text(x, 50, change << " -> " << text_view(to_text(mesh, to)));
  message_text second = detail::mesh_line(mesh);
  const device_groups groups(mesh, step.axes);
  if (groups.count() > 1)
    second << ", " << groups.count() << " groups do this at once, shown is device 0's";
  out.put_text(x, 70, second, "dim");
  out.put_text(x, 90,
               permutes_shards(before.layout, step)
                   ? "each device sends its shard to one device, as it is"
                   : detail::what_happens(step.kind),
               "dim");
  detail::collective_diagram(mesh, before, step, seen.moves).draw(out, x, 106);

  index_t y = out.height() + 22;
  if (step.kind != collective::slice) {
    const index_t others = groups.size() - 1;
    const bool hears_one =
        step.kind == collective::collective_permute || step.kind == collective::broadcast;
    const index_t arrows = hears_one                             ? 1
                           : step.kind == collective::all_reduce ? 2 * others
                                                                 : others;
    const index_t held = element_count(largest_shard(mesh, before.layout, before.extents));
    const bool even = detail::is_even(mesh, before) && detail::is_even(mesh, after) && !hears_one &&
                      (step.from < 0 || step.from != step.to) &&
                      (step.kind != collective::all_reduce || held % groups.size() == 0);
    message_text words;
    words << "each device receives " << (even ? text_view("") : text_view("at most "));
    internal::write_bytes(words, step.total_bytes());
    if (even && arrows > 0 && step.total_bytes() % arrows == 0) {
      words << ", ";
      internal::write_bytes(words, step.total_bytes() / arrows);
      words << " an arrow";
    }
    out.put_text(x, y, words);
    y += 20;
  }
  out.put_line(x, y - 4, x + 24, y - 4, "stay", 2);
  out.put_text(x + 34, y, "stays where it is", "s ink");
  if (const auto pending = detail::layout_tiles(mesh, before, true).pending(); !pending.empty())
    detail::draw_partial_legend(out, x, y + 10, pending);
  return out.finish(title);
}

}  // namespace detail

/// Returns a diagram of one collective: the devices of a group as columns, the elements that each
/// holds before and after, and the transfers between them. `step` is a move of `redistribute`, and
/// `before` its operand.
[[nodiscard]] inline std::string to_svg(const mesh_desc& mesh, const tensor_desc& before,
                                        const planned_transfer& step) {
  tensor_desc after = before;
  after.layout = step.after;
  return detail::svg_of_collective(mesh, before, after, {before, step, {}});
}
/// Returns the diagram of a collective that a program calls on a manual tensor.
///
///     to_svg(mesh, mine, {.kind = collective::collective_permute, .axes = {0},
///                         .moves = position_moves::ring(1)});
[[nodiscard]] inline std::string to_svg(const mesh_desc& mesh, const tensor_desc& before,
                                        const manual_collective& called) {
  const manual_result after = called.apply(mesh, before);
  require(after.verdict);
  seen_collective seen = seen_as(mesh, called, before, after.tensor);
  seen.step.bytes =
      manual_collective_operation::cost(mesh, called.how(), {before}, after.tensor).bytes;
  return detail::svg_of_collective(mesh, before, after.tensor, seen);
}

/// Returns a diagram of the smallest example of a collective: four devices, an 8 x 8 tensor.
[[nodiscard]] inline std::string to_svg(collective kind) {
  const mesh_desc mesh{{axis_desc{"x", 4}}};
  if (kind == collective::collective_permute || kind == collective::broadcast) {
    const tensor_desc mine{element::f32, {8, 8}, resolve(mesh, {{"", ""}}, {.manual = "x"}).layout};
    const position_moves moves =
        kind == collective::broadcast ? position_moves::root(0) : position_moves::ring(1);
    return to_svg(mesh, mine, manual_collective{.kind = kind, .axes = {0}, .moves = moves});
  }
  const bool reduces = kind == collective::reduce_scatter || kind == collective::all_reduce;
  const bool halo = kind == collective::halo_exchange;
  const bool split = kind == collective::all_to_all || kind == collective::all_gather || halo;
  const spec_desc whole{{"", ""}}, rows{{"x", ""}}, columns{{"", "x"}};
  const tensor_desc before{
      element::f32,
      {8, 8},
      resolve(mesh, split ? rows : whole, {reduces ? "x" : "", reduction::sum}).layout};
  const bool to_rows = kind == collective::slice || kind == collective::reduce_scatter;
  const spec_desc& target = kind == collective::all_to_all ? columns : to_rows ? rows : whole;
  layout_desc after = resolve(mesh, target, {}).layout;
  if (halo) {
    after = before.layout;
    after.grains[0] = grain::halo(1, 1);
  }
  return to_svg(mesh, before, redistribute(mesh, before, after).moves[0]);
}

}  // namespace shardwise
