// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/before_after.hpp"
#include "shardwise/draw/svg_tensor.hpp"

namespace shardwise {

namespace detail {

/// Draws an arrow to the right over `width` pixels with the bytes that each device receives; it is
/// thicker by one pixel for each factor of 64.
inline void draw_bytes_arrow(svg_document& out, index_t x, index_t y, index_t width,
                             const planned_transfer& step) {
  index_t thick = 2;
  for (index_t rest = step.total_bytes(); rest >= 64; rest /= 64) ++thick;
  bounded_text<40> bytes;
  write_bytes(bytes, step.total_bytes());
  const index_t tip = 6 + thick;
  out.put_line(x, y, x + width - 2 * tip, y, step.total_bytes() == 0 ? "stay" : "wire", thick);
  out.put_tip(x + width, y, true, tip);
  out.put_centred(x + width / 2, y - 16, bytes);
  out.put_centred(x + width / 2, y + 26, step.total_bytes() == 0 ? "nothing moves" : "per device",
                  "s dim");
}

/// Draws one collective: its name, the tensor before it, an arrow, and the tensor after it.
inline void draw_panel(svg_document& out, index_t x, index_t y, const mesh_desc& mesh,
                       const tensor_desc& before, const planned_transfer& step, int number) {
  const grid_limits limits{
      .columns = 6, .rows = 6, .pages = 2, .widest = 900, .narrowest = 130, .highest = 170};
  constexpr index_t arrow = 130;
  tensor_desc after = before;
  after.layout = step.after;
  bounded_text<400> head;
  head << number << ". ";
  write_move(head, mesh, step);
  out.put_text(x, y + 12, head, "t ink");
  const message_text left = to_text(mesh, before);
  const message_text right = to_text(mesh, after);
  out.put_text(x, y + 36, left);
  const layout_tiles tiles_before(mesh, before, true);
  const layout_tiles tiles_after(mesh, after, true);
  const svg_grid from(tiles_before, tiles_before, limits);
  const svg_grid to(tiles_after, tiles_after, limits);
  const index_t words = text_width(left.size());
  const index_t arrow_x = x + (from.width() > words ? from.width() : words) + 20;
  const index_t to_x = arrow_x + arrow + 20;
  out.put_text(to_x, y + 36, right);
  const index_t top = y + 48;
  from.draw(out, x, top);
  to.draw(out, to_x, top);
  const index_t lower = from.height() < to.height() ? from.height() : to.height();
  draw_bytes_arrow(out, arrow_x, top + lower / 2 + 8, arrow, step);
}

}  // namespace detail

/// Returns a picture of a reshard: one panel for each collective, with the tensor before and after
/// it and an arrow whose thickness grows with the bytes. If the reshard is invalid, a sentence
/// states the broken rule.
[[nodiscard]] inline std::string to_svg(const mesh_desc& mesh, const tensor_desc& tensor,
                                        const layout_desc& target) {
  message_text title = to_text(mesh, tensor);
  if (!internal::is_known(mesh, tensor.extents))
    return detail::svg_of_words(title, "sizes are not known yet");
  const redistribution way = redistribute(mesh, tensor, target);
  if (!way.verdict.ok()) return detail::svg_of_words(title, describe(way.verdict));

  tensor_desc now = tensor;
  now.layout = target;
  title << " -> " << text_view(to_text(mesh, now));
  if (element_count(tensor.extents) == 0) return detail::svg_of_words(title, "no elements");
  if (way.moves.empty()) return detail::svg_of_words(title, "nothing moves");
  detail::svg_document out;
  const index_t x = detail::svg_document::margin;
  out.put_text(x, 28, title, "t ink");
  message_text second = detail::mesh_line(mesh);
  second << ", " << way.moves.ssize() << (way.moves.size() == 1 ? " step, " : " steps, ");
  internal::write_bytes(second, way.total_bytes());
  out.put_text(x, 48, second << " received per device", "dim");
  now = tensor;
  for (int i = 0; i < way.moves.ssize(); ++i) {
    detail::draw_panel(out, x, i == 0 ? 74 : out.height() + 30, mesh, now, way.moves[i], i + 1);
    now.layout = way.moves[i].after;
  }
  detail::draw_legend(out, x, out.height() + 24, detail::layout_tiles(mesh, tensor, true).pending(),
                      {});
  return out.finish(title);
}

}  // namespace shardwise
