// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/grid_scale.hpp"
#include "shardwise/draw/svg_document.hpp"
#include "shardwise/plan/pieces.hpp"

#include <vector>

namespace shardwise::detail {

/// The elements that a device holds, as ranges of global indices along each dimension.
class held_pieces {
 public:
  held_pieces(const mesh_desc& mesh, const tensor_desc& tensor, index_t device) {
    for (const held_range& held : held_of(mesh, tensor.layout, tensor.extents, device)) {
      dims_.emplace_back();
      for (index_t x = 0, count = 0; x < held.size(); x += count) {
        count = held.run(x);
        dims_.back().push_back({held.global(x), held.global(x) + count});
      }
    }
  }

  [[nodiscard]] bool empty() const noexcept {
    for (const ranges& dim : dims_)
      if (dim.empty()) return true;
    return false;
  }
  /// Returns the ranges along a dimension; one unit for a dimension that does not exist.
  [[nodiscard]] std::vector<index_range> along(int d) const {
    return d < 0 ? ranges{{0, 1}} : dims_[static_cast<std::size_t>(d)];
  }
  [[nodiscard]] held_pieces common(const held_pieces& other) const {
    held_pieces both = *this;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      both.dims_[d].clear();
      for (const index_range& a : dims_[d])
        for (const index_range& b : other.dims_[d]) {
          const index_range c = intersect({a}, {b})[0];
          if (!c.empty()) both.dims_[d].push_back(c);
        }
    }
    return both;
  }
  /// Writes the ranges: `[0:2 4:6, 0:8]`.
  [[nodiscard]] bounded_text<200> words() const {
    bounded_text<200> out;
    out << '[';
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      if (d > 0) out << ", ";
      if (dims_[d].empty()) out << '-';
      for (std::size_t i = 0; i < dims_[d].size(); ++i) {
        if (i > 0) out << ' ';
        if (i == 2 && dims_[d].size() > 4) {
          out << ".. ";
          i = dims_[d].size() - 1;
        }
        out << dims_[d][i];
      }
    }
    return out << ']';
  }

 private:
  using ranges = std::vector<index_range>;
  std::vector<ranges> dims_;
};

/// A diagram of one collective in one group of devices: each device is a column, and time runs from
/// top to bottom.
class collective_diagram {
 public:
  collective_diagram(const mesh_desc& mesh, const tensor_desc& before, const planned_transfer& step,
                     const position_moves& moves = {})
      : mesh_(mesh),
        before_(before),
        after_(before),
        step_(step),
        moves_(moves),
        peers_(mesh, before.layout, step, moves),
        group_(mesh, step.axes) {
    after_.layout = step.after;
    const index_t n = group_.size();
    for (index_t i = 0; i < n && i < (n <= 6 ? 6 : 4); ++i) columns_.push_back(i);
    if (n > 6) columns_ = {0, 1, 2, 3, -1, n - 1};
    choose_dimensions();
    for (index_t i = 0; i < n; ++i) {
      widen(before_part(i));
      widen(after_part(i));
    }
    std::size_t longest = 0;
    for (index_t i : columns_) {
      if (i < 0) continue;
      const std::size_t words = after_part(i).words().size();
      longest = words > longest ? words : longest;
    }
    const index_t label = text_width(longest, 11);
    pitch_ = label > box_width ? label + 24 : box_width + 32;
    // Room for the text at the left, or for the label of the first column.
    if ((label - box_width) / 2 > left_) left_ = (label - box_width) / 2;
    box_height_ = before.rank() >= 2 ? 66 : 28;
  }

  /// Draws the columns and returns where they end.
  void draw(svg_document& out, index_t x, index_t y) const {
    x += left_;
    const bool twice = step_.kind == collective::all_reduce;
    const int stages = twice ? 3 : 2;
    for (int c = 0; c < columns_.ssize(); ++c) {
      const index_t left = x + c * pitch_;
      const index_t i = columns_[c];
      bounded_text<40> device;
      if (i < 0)
        device << "...";
      else
        device << "device " << group_.member(0, i);
      out.put_centred(left + box_width / 2, y + 10, device);
      if (i < 0) continue;
      for (int s = 0; s < stages; ++s) draw_holding(out, left, stage_y(y, s), i, s, stages);
      out.put_centred(left + box_width / 2, stage_y(y, stages - 1) + box_height_ + 16,
                      after_part(i).words(), "s dim");
    }
    for (int s = 0; s < stages; ++s) {
      const text_view word = s == 0 ? "before" : s + 1 == stages ? "after" : "reduced";
      out.put_right(x - 14, stage_y(y, s) + box_height_ / 2 + 4, word, "s dim");
      if (s > 0) draw_wires(out, x, stage_y(y, s - 1) + box_height_, stage_y(y, s), s);
    }
  }

 private:
  static constexpr index_t box_width = 88;
  static constexpr index_t wires_height = 84;
  /// More pieces than this are drawn as one.
  static constexpr index_t most_pieces = 16;

  struct rectangle {
    index_t x = 0, y = 0, width = 0, height = 0;
  };

  [[nodiscard]] index_t stage_y(index_t y, int stage) const {
    return y + 20 + stage * (box_height_ + wires_height);
  }
  [[nodiscard]] held_pieces before_part(index_t i) const {
    return held_pieces(mesh_, before_, group_.member(0, i));
  }
  [[nodiscard]] held_pieces after_part(index_t i) const {
    return held_pieces(mesh_, after_, group_.member(0, i));
  }

  /// Chooses the two dimensions that are drawn: those between which the collective moves axes, then
  /// the last ones.
  void choose_dimensions() {
    const int rank = before_.rank();
    row_ = rank - 2;
    column_ = rank - 1;
    const int moved = step_.from >= 0 ? step_.from : step_.to;
    if (step_.from >= 0 && step_.to >= 0 && step_.from != step_.to) {
      row_ = step_.from < step_.to ? step_.from : step_.to;
      column_ = step_.from < step_.to ? step_.to : step_.from;
    } else if (moved >= 0 && moved < rank - 2) {
      row_ = moved;
    }
  }
  void widen(const held_pieces& part) {
    if (part.empty()) return;
    for (int d = 0; d < before_.rank(); ++d) {
      if (frame_.ssize() == d) frame_.push_back(part.along(d)[0]);
      for (const index_range& range : part.along(d)) {
        if (range.begin < frame_[d].begin) frame_[d].begin = range.begin;
        if (range.end > frame_[d].end) frame_[d].end = range.end;
      }
    }
  }
  [[nodiscard]] rectangle place_of(const index_range& row, const index_range& column, index_t x,
                                   index_t y) const {
    rectangle where{x, y, box_width, box_height_};
    const auto scale = [&](int d, const index_range& range, index_t pixels, index_t& from,
                           index_t& length) {
      if (d < 0) return;
      const index_t size = frame_[d].size();
      const index_t begin = rescaled(range.begin - frame_[d].begin, pixels, size);
      length = rescaled(range.end - frame_[d].begin, pixels, size) - begin;
      from += begin;
    };
    scale(column_, column, box_width, where.x, where.width);
    scale(row_, row, box_height_, where.y, where.height);
    return where;
  }
  void draw_piece(svg_document& out, const rectangle& at, index_t number, bool pending) const {
    if (at.width > 0 && at.height > 0)
      out.put_block(at.x, at.y, at.width, at.height, number, pending);
  }
  void draw_pieces(svg_document& out, const held_pieces& part, index_t x, index_t y, index_t number,
                   bool pending) const {
    for (const index_range& row : part.along(row_))
      for (const index_range& column : part.along(column_))
        draw_piece(out, place_of(row, column, x, y), number, pending);
  }

  /// Draws the elements that member `i` holds at a stage; pieces have the colour of the member that
  /// they come from or, if they are reduced or split, of the one that they are for.
  void draw_holding(svg_document& out, index_t x, index_t y, index_t i, int stage,
                    int stages) const {
    out.put_box(x, y, box_width, box_height_, "hole");
    const bool first = stage == 0;
    const bool last = stage + 1 == stages;
    const bool pending = (first ? before_ : after_).layout.pending != 0;
    const index_t n = group_.size();
    if ((first ? before_part(i) : after_part(i)).empty()) return;
    if (step_.kind == collective::collective_permute || step_.kind == collective::broadcast) {
      const index_t from = first ? group_.member(0, i) : peers_.member(group_.member(0, i), 0);
      if (from < 0) return;
      const index_t whose = group_.position_of(from);
      draw_pieces(out, before_part(permutes_shards(before_.layout, step_) ? whose : i), x, y, whose,
                  pending);
      return;
    }
    for (index_t k = 0; k < n; ++k) {
      if (step_.kind == collective::all_reduce) {
        // Strips of the block represent its parts.
        if (n > most_pieces && !first && !last) k = i;
        rectangle strip{x, y, box_width, box_height_};
        index_t& from = row_ >= 0 ? strip.y : strip.x;
        index_t& length = row_ >= 0 ? strip.height : strip.width;
        const index_t begin = k * length / n;
        const index_t end = (k + 1) * length / n;
        if (n <= most_pieces || !(first || last)) {
          from += begin;
          length = end > begin ? end - begin : 1;
        }
        if (first || last || k == i) draw_piece(out, strip, k, pending);
        if (n > most_pieces) return;
        continue;
      }
      const bool gathers = step_.kind == collective::all_gather;
      const bool exchanges =
          step_.kind == collective::all_to_all || step_.kind == collective::halo_exchange;
      held_pieces piece = gathers ? before_part(first ? i : k) : after_part(first ? k : i);
      if (exchanges) piece = piece.common(before_part(first ? i : k));
      const bool own = gathers ? first : !first;
      const index_t number = exchanges ? (first ? i : k) : own ? i : k;
      if (n > most_pieces) piece = first ? before_part(i) : after_part(i);
      if (!piece.empty()) draw_pieces(out, piece, x, y, number, pending);
      if (n > most_pieces || (own && !exchanges)) return;
    }
  }

  /// Returns true if member `i` sends something to member `j` after a stage.
  [[nodiscard]] bool sends(index_t i, index_t j, int stage) const {
    bool found = false;
    for_each_piece(
        mesh_, before_, step_, group_.member(0, j),
        [&](const shard_piece& p) {
          found = found || (p.round == stage - 1 && p.from == group_.member(0, i));
        },
        moves_);
    return found;
  }

  /// Draws the transfers between two stages: solid lines for data that is sent, dotted ones for
  /// data that stays.
  void draw_wires(svg_document& out, index_t x, index_t top, index_t bottom, int stage) const {
    const int m = columns_.ssize();
    const bool by_receiver = step_.kind == collective::reduce_scatter ||
                             (step_.kind == collective::all_reduce && stage == 1);
    for (int a = 0; a < m; ++a)
      for (int b = 0; b < m; ++b) {
        const index_t i = columns_[a];
        const index_t j = columns_[b];
        if (i < 0 || j < 0 || !sends(i, j, stage)) continue;
        const index_t from = x + a * pitch_ + box_width * (b + 1) / (m + 1);
        const index_t to = x + b * pitch_ + box_width * (a + 1) / (m + 1);
        bounded_text<8> colour;
        colour << 'w' << (by_receiver ? j : i) % colour_count;
        out.put_line(from, top + 3, to, bottom - 9, a == b ? text_view("stay") : text_view(colour),
                     2);
        out.put_tip(to, bottom - 2, false, 4);
      }
  }

  mesh_desc mesh_;
  tensor_desc before_;
  tensor_desc after_;
  planned_transfer step_;
  position_moves moves_;
  collective_peers peers_;
  device_groups group_;
  inplace_vector<index_t, 6> columns_{};
  index_box frame_{};
  int row_ = -1;
  int column_ = -1;
  index_t left_ = 66;
  index_t pitch_ = 0;
  index_t box_height_ = 0;
};

}  // namespace shardwise::detail
