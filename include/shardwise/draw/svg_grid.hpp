// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/grid_scale.hpp"
#include "shardwise/draw/svg_document.hpp"

namespace shardwise::detail {

/// Draws blocks to scale, page by page, each labelled with the devices that hold it and in the
/// colour of the block of `painted` that its first device holds. Both sources must outlive the
/// grid.
template <TileSource Tiles, TileSource Painted = Tiles>
class svg_grid {
 public:
  svg_grid(const Tiles& tiles, const Painted& painted, const grid_limits& limits = {})
      : tiles_(tiles), painted_(painted), limits_(limits), pages_(tiles) {
    const int rank = tiles.rank();
    columns_ =
        rank >= 1 ? tiles.parts(rank - 1, limits.columns) : shown_parts{shown_part{0, {0, 1}}};
    rows_ = rank >= 2 ? tiles.parts(rank - 2, limits.rows) : shown_parts{shown_part{0, {0, 1}}};
    measure();
  }

  [[nodiscard]] index_t width() const noexcept { return width_; }
  [[nodiscard]] index_t height() const noexcept { return height_; }

  /// Draws all pages, the first with its corner at a point.
  void draw(svg_document& out, index_t x, index_t y) const {
    const index_t count = shown_pages();
    for (index_t i = 0; i < count; ++i) {
      const bool after_gap = has_gap() && i == count - 1;
      const index_t left = x + i % across_ * (page_width_ + page_gap);
      const index_t top =
          y + i / across_ * (page_height_ + page_gap) + (after_gap ? gap_height : 0);
      if (after_gap) {
        bounded_text<60> gap;
        gap << "... " << pages_.count() - limits_.pages << " more pages ...";
        out.put_text(left, top - 20, gap, "dim");
      }
      draw_page(out, left, top, page_at(i));
    }
  }

 private:
  using lines = inplace_vector<cell_text, 4>;
  static constexpr index_t page_gap = 18;
  static constexpr index_t gap_height = 34;
  /// Pages are placed side by side up to this width in pixels.
  static constexpr index_t flow_width = 860;

  [[nodiscard]] index_t shown_pages() const {
    return pages_.count() < limits_.pages ? pages_.count() : limits_.pages;
  }
  [[nodiscard]] bool has_gap() const { return pages_.count() > limits_.pages; }
  [[nodiscard]] picture_page page_at(index_t i) const {
    return pages_.at(has_gap() && i == limits_.pages - 1 ? pages_.count() - 1 : i);
  }
  [[nodiscard]] cell_text row_label(const shown_part& row) const {
    return tiles_.rank() >= 2 ? tiles_.label(tiles_.rank() - 2, row) : cell_text{};
  }
  [[nodiscard]] cell_text column_label(const shown_part& column) const {
    return tiles_.rank() >= 1 ? tiles_.label(tiles_.rank() - 1, column) : cell_text{};
  }
  [[nodiscard]] holders who(const picture_page& page, const shown_part& row,
                            const shown_part& column) const {
    return tiles_.who(numbers_at(tiles_, page, row, column));
  }
  /// A line for all devices or, if a reduction is pending, a line for each replica, and its axes.
  [[nodiscard]] lines words(const holders& devices) const {
    lines all;
    cell_text line;
    const index_t replicas = devices.replicas.count();
    if (devices.terms.count() == 1) {
      write_holders(line, devices, 3);
      all.push_back(line);
    } else if (replicas <= 2) {
      for (index_t r = 0; r < replicas; ++r) {
        line = {};
        write_terms(line, devices, r, 4);
        all.push_back(line);
      }
    } else {
      write_terms(line, devices, 0, 3);
      all.push_back(line << " ..");
      line = {};
      write_terms(line, devices, replicas - 1, 3);
      all.push_back(line);
    }
    if (const cell_text pending = tiles_.pending(); !pending.empty()) all.push_back(pending);
    return all;
  }

  void measure() {
    pixel_counts across, down;
    across.resize(columns_.size());
    down.resize(rows_.size());
    const auto raise = [](index_t& need, index_t to) { need = to > need ? to : need; };
    for (int c = 0; c < columns_.ssize(); ++c)
      raise(across[c], text_width(column_label(columns_[c]).size(), 11) + 8);
    for (const shown_part& row : rows_) raise(left_, text_width(row_label(row).size(), 11));
    if (left_ > 0) left_ += 8;
    index_t title = 0;
    for (index_t p = 0; p < shown_pages(); ++p) {
      const picture_page page = page_at(p);
      raise(title, text_width(page_title(tiles_, page).size()));
      for (int r = 0; r < rows_.ssize(); ++r)
        for (int c = 0; c < columns_.ssize(); ++c) {
          if (rows_[r].is_gap() || columns_[c].is_gap()) continue;
          const lines all = words(who(page, rows_[r], columns_[c]));
          for (const cell_text& line : all) raise(across[c], text_width(line.size()) + 16);
          raise(down[r], all.ssize() * 15 + 11);
        }
    }
    top_ = (title > 0 ? 20 : 0) + (tiles_.rank() >= 1 ? 16 : 0);
    widths_ = spread_pixels(columns_, across, limits_.narrowest, limits_.widest);
    const index_t shown_width = sum_of(widths_);
    index_t preferred = tiles_.is_sized() || tiles_.rank() < 2 ? 46 : 34 * rows_.ssize();
    if (tiles_.rank() >= 2 && tiles_.is_sized()) {
      const index_t n = tiles_.extent(tiles_.rank() - 1);
      const index_t m = tiles_.extent(tiles_.rank() - 2);
      // The proportions follow those of the tensor, within the size of a page.
      preferred =
          m / n >= 4 ? limits_.highest : rescaled(m < n ? m : n, shown_width, m < n ? n : m);
      if (m > n && m / n < 4)
        preferred = shown_width * shown_width / (preferred > 0 ? preferred : 1);
      preferred = preferred < 46 ? 46 : preferred > limits_.highest ? limits_.highest : preferred;
    }
    heights_ = spread_pixels(rows_, down, preferred, 2 * limits_.highest);
    page_width_ = left_ + shown_width;
    raise(page_width_, title);
    page_height_ = top_ + sum_of(heights_);
    const index_t count = shown_pages();
    across_ = (flow_width + page_gap) / (page_width_ + page_gap);
    across_ = across_ < 1 ? 1 : across_ > count ? count : across_;
    width_ = across_ * (page_width_ + page_gap) - page_gap;
    height_ = ceil_div(count, across_) * (page_height_ + page_gap) - page_gap;
    if (has_gap()) height_ += gap_height;
  }

  void draw_page(svg_document& out, index_t x, index_t y, const picture_page& page) const {
    if (const bounded_text<400> title = page_title(tiles_, page); !title.empty())
      out.put_text(x, y + 11, title);
    index_t column = x + left_;
    for (int c = 0; c < columns_.ssize(); ++c) {
      const cell_text words = column_label(columns_[c]);
      if (text_width(words.size(), 11) <= widths_[c])
        out.put_centred(column + widths_[c] / 2, y + top_ - 5, words, "s dim");
      column += widths_[c];
    }
    index_t row = y + top_;
    for (int r = 0; r < rows_.ssize(); ++r) {
      if (heights_[r] >= 12)
        out.put_right(x + left_ - 8, row + heights_[r] / 2 + 4, row_label(rows_[r]), "s dim");
      column = x + left_;
      for (int c = 0; c < columns_.ssize(); ++c) {
        draw_cell(out, column, row, page, r, c);
        column += widths_[c];
      }
      row += heights_[r];
    }
  }
  void draw_cell(svg_document& out, index_t x, index_t y, const picture_page& page, int r,
                 int c) const {
    if (rows_[r].is_gap() || columns_[c].is_gap()) {
      out.put_box(x, y, widths_[c], heights_[r], "hole");
      out.put_centred(x + widths_[c] / 2, y + heights_[r] / 2 + 4, "...", "dim");
      return;
    }
    const holders devices = who(page, rows_[r], columns_[c]);
    const index_t block = painted_.block_of(devices);
    bounded_text<700> hint;
    hint << '[';
    for (int d = 0; d < tiles_.rank(); ++d) {
      const bool outer = d + 2 < tiles_.rank();
      const shown_part& part = outer                    ? page.outer[d]
                               : d + 2 == tiles_.rank() ? rows_[r]
                                                        : columns_[c];
      hint << (d > 0 ? text_view(", ") : text_view("")) << text_view(tiles_.label(d, part));
    }
    hint << "] on ";
    write_holders(hint, devices, 8);
    if (block < 0)
      out.put_box(x + 1, y + 1, widths_[c] - 2, heights_[r] - 2, "hole", hint);
    else
      out.put_block(x, y, widths_[c], heights_[r], block, !painted_.pending().empty(), hint);
    out.put_label(x, y, widths_[c], heights_[r], words(devices));
  }

  const Tiles& tiles_;
  const Painted& painted_;
  grid_limits limits_;
  picture_pages<Tiles> pages_;
  shown_parts columns_{};
  shown_parts rows_{};
  pixel_counts widths_{};
  pixel_counts heights_{};
  index_t left_ = 0;
  index_t top_ = 0;
  index_t page_width_ = 0;
  index_t page_height_ = 0;
  index_t across_ = 1;
  index_t width_ = 0;
  index_t height_ = 0;
};

}  // namespace shardwise::detail
