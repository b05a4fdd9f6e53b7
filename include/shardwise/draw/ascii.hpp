// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/layout_tiles.hpp"

namespace shardwise {

/// The style of a text picture: the maximum line length, and whether blocks are coloured.
struct picture_style {
  std::size_t width = 100;
  /// Colours for terminals, by escape sequences; replicas of a block share its cell and colour.
  bool colour = false;
};

namespace detail {

/// Larger numbers of devices are written as ranges.
inline constexpr index_t most_listed = 8;
/// The maximum number of columns, of cells of a table, and of pages; the middle is omitted beyond
/// that.
inline constexpr index_t most_columns = 64;
inline constexpr index_t most_cells = 256;
inline constexpr index_t most_pages = 8;

/// Returns the colour of block `number` for terminals of 256 colours, on which black text is
/// readable.
[[nodiscard]] constexpr bounded_text<24> terminal_colour(index_t number) noexcept {
  constexpr int colours[] = {117, 215, 79, 228, 111, 209, 218, 250};
  bounded_text<24> sequence;
  sequence << "\x1b[30;48;5;" << colours[number % 8] << 'm';
  return sequence;
}

/// Draws one table: the blocks of the last two dimensions for one choice of the others.
template <class Out, TileSource Tiles>
class picture_table {
 public:
  constexpr picture_table(Out& out, const Tiles& tiles, const picture_style& style) noexcept
      : out_(out), tiles_(tiles), style_(style) {
    const int rank = tiles.rank();
    columns_ = rank >= 1 ? tiles.parts(rank - 1, most_columns) : shown_parts{shown_part{0, {0, 1}}};
    // Fewer columns if they are wide, but always some.
    index_t fit = most_cells / columns_.ssize();
    fit = fit < 8 ? 8 : fit;
    rows_ = rank >= 2 ? tiles.parts(rank - 2, fit < most_columns ? fit : most_columns)
                      : shown_parts{shown_part{0, {0, 1}}};
  }

  constexpr void draw(const picture_page& outer) {
    outer_ = outer;
    const int rank = tiles_.rank();
    std::size_t cell = 3;
    std::size_t margin = 0;
    for (const shown_part& row : rows_) {
      if (rank >= 2) margin = larger(margin, tiles_.label(rank - 2, row).size() + 1);
      for (const shown_part& column : columns_) cell = larger(cell, words(row, column).size() + 2);
    }
    if (rank >= 1)
      for (const shown_part& column : columns_)
        cell = larger(cell, tiles_.label(rank - 1, column).size() + 2);
    const std::size_t room = style_.width > margin + 1 ? style_.width - margin - 1 : 0;
    const std::size_t fits = larger(1, room / (cell + 1));
    for (std::size_t first = 0; first < columns_.size(); first += fits)
      draw_band(first, fits < columns_.size() - first ? fits : columns_.size() - first, cell,
                margin);
  }

 private:
  [[nodiscard]] static constexpr std::size_t larger(std::size_t a, std::size_t b) noexcept {
    return a < b ? b : a;
  }
  [[nodiscard]] constexpr cell_text words(const shown_part& row,
                                          const shown_part& column) const noexcept {
    cell_text words;
    if (row.is_gap() || column.is_gap()) return words << "...";
    write_holders(words, tiles_.who(numbers_at(tiles_, outer_, row, column)), most_listed);
    return words;
  }
  constexpr void put(text_view words) { out_ << words; }
  constexpr void put(text_view character, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) out_ << character;
  }

  constexpr void draw_band(std::size_t first, std::size_t count, std::size_t cell,
                           std::size_t margin) {
    const int rank = tiles_.rank();
    std::size_t blanks = margin + 2;
    for (std::size_t c = 0; rank >= 1 && c < count; ++c) {
      const cell_text head = tiles_.label(rank - 1, columns_[first + c]);
      put(" ", blanks);
      put(head);
      blanks = cell + 1 - head.size();
    }
    put("\n");
    draw_rule(count, cell, margin);
    for (const shown_part& row : rows_) {
      const cell_text head = rank >= 2 ? tiles_.label(rank - 2, row) : cell_text{};
      put(head);
      put(" ", margin - head.size());
      for (std::size_t c = 0; c < count; ++c) {
        put("|");
        draw_cell(row, columns_[first + c], cell);
      }
      put("|\n");
      draw_rule(count, cell, margin);
    }
  }
  constexpr void draw_rule(std::size_t count, std::size_t cell, std::size_t margin) {
    put(" ", margin);
    for (std::size_t c = 0; c < count; ++c) {
      put("+");
      put("-", cell);
    }
    put("+\n");
  }
  constexpr void draw_cell(const shown_part& row, const shown_part& column, std::size_t cell) {
    const cell_text inside = words(row, column);
    const std::size_t left = (cell - inside.size()) / 2;
    const bool painted = style_.colour && !row.is_gap() && !column.is_gap();
    if (painted) put(terminal_colour(tiles_.block(numbers_at(tiles_, outer_, row, column))));
    put(" ", left);
    put(inside);
    put(" ", cell - left - inside.size());
    if (painted) put("\x1b[0m");
  }

  Out& out_;
  const Tiles& tiles_;
  picture_style style_;
  picture_page outer_{};
  shown_parts rows_{};
  shown_parts columns_{};
};

/// Draws every page of a picture.
template <class Out, TileSource Tiles>
constexpr void write_pages(Out& out, const Tiles& tiles, const picture_style& style) {
  const picture_pages all(tiles);
  picture_table<Out, Tiles> cells(out, tiles, style);
  for (index_t p = 0; p < all.count(); ++p) {
    if (all.count() > most_pages && p == most_pages - 1) {
      bounded_text<60> gap;
      gap << "... " << all.count() - most_pages << " more pages\n";
      out << text_view(gap);
      p = all.count() - 1;
    }
    const picture_page shown = all.at(p);
    if (const bounded_text<400> title = page_title(tiles, shown); !title.empty())
      out << text_view(title) << text_view("\n");
    cells.draw(shown);
  }
}

/// Draws the blocks of a tensor, or the sentence that explains why there are none.
template <class Out>
constexpr void write_blocks(Out& out, const mesh_desc& mesh, const tensor_desc& tensor,
                            const picture_style& style, const index_t* names = nullptr) {
  if (!is_known(mesh, tensor.extents))
    out << text_view("(sizes are not known yet)\n");
  else if (element_count(tensor.extents) == 0)
    out << text_view("(no elements)\n");
  else
    write_pages(out, layout_tiles(mesh, tensor, true, names), style);
}

}  // namespace detail

/// Draws a layout without a tensor: a table whose cells list the devices that hold each block, one
/// page for each block of the dimensions before the last two.
///
/// `Out` must have `operator<<` for `text_view`: a `bounded_text` in constant expressions, or any
/// stream.
template <class Out>
constexpr void write_picture(Out& out, const mesh_desc& mesh, const layout_desc& layout,
                             const picture_style& style = {}) {
  message_text title;
  write_layout(title, mesh, layout) << " on " << mesh << '\n';
  out << text_view(title);
  if (mesh.devices() == dyn) return void(out << text_view("(sizes are not known yet)\n"));
  detail::write_pages(out, detail::layout_tiles(mesh, layout), style);
}

/// Draws which device holds which part of a tensor: its notation, then a table as for a layout,
/// with the ranges of rows and columns. A cell lists its devices: `0 4` are replicas, `0+1` hold
/// terms of a pending reduction, `0-63` are many. No line is longer than the style's width, unless
/// a single cell is; if there are very many blocks or pages, those in the middle are omitted.
template <class Out>
constexpr void write_picture(Out& out, const mesh_desc& mesh, const tensor_desc& tensor,
                             const picture_style& style = {}) {
  message_text title = to_text(mesh, tensor);
  title << " on " << mesh << '\n';
  out << text_view(title);
  detail::write_blocks(out, mesh, tensor, style);
}

/// Returns the picture of a layout type or of a tensor type as a constant.
///
///     static_assert(picture_of<layout<pod, P<"model">>>() == "[model] on mesh(data=2,
///     model=2)\n"...);
template <class X, std::size_t Capacity = 4000>
[[nodiscard]] constexpr bounded_text<Capacity> picture_of(const picture_style& style = {}) {
  bounded_text<Capacity> out;
  if constexpr (internal::is_sharded_tensor<X>) {
    constexpr detail::picture_subject shown =
        detail::picture_subject_of(static_cast<const X*>(nullptr));
    write_picture(out, shown.mesh, shown.tensor, style);
  } else {
    write_picture(out, X::mesh_type::value, X::value, style);
  }
  return out;
}

}  // namespace shardwise
