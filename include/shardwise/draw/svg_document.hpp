// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/palette.hpp"

#include <string>

namespace shardwise::detail {

/// Returns the width in pixels of `letters` characters in the fixed-width fonts of a picture: 0.61
/// of the font size each, which no common font exceeds.
[[nodiscard]] constexpr index_t text_width(std::size_t letters, index_t font_size = 12) noexcept {
  return ceil_div(static_cast<index_t>(letters) * font_size * 61, 100);
}

/// A picture under construction, in whole pixels: its items and its extent.
///
/// The same calls give the same bytes on every machine.
class svg_document {
 public:
  /// Extends the picture to a point; every item does this itself.
  void reach(index_t x, index_t y) {
    width_ = x > width_ ? x : width_;
    height_ = y > height_ ? y : height_;
  }
  [[nodiscard]] index_t height() const noexcept { return height_; }

  /// Adds a line of text on the base line `y`, starting at `x`. `style` is its class.
  void put_text(index_t x, index_t y, text_view words, text_view style = "ink") {
    open("text", x, y, style).close(words);
    reach(x + text_width(words.size(), font_size(style)), y + 4);
  }
  /// Adds text centred on `x`.
  void put_centred(index_t x, index_t y, text_view words, text_view style = "ink") {
    open("text", x, y, style).attribute("text-anchor", "middle").close(words);
    reach(x + text_width(words.size(), font_size(style)) / 2 + 1, y + 4);
  }
  /// Adds text ending at `x`.
  void put_right(index_t x, index_t y, text_view words, text_view style = "ink") {
    open("text", x, y, style).attribute("text-anchor", "end").close(words);
    reach(x, y + 4);
  }

  /// Adds a rectangle of a class; `hint` is its tooltip.
  void put_box(index_t x, index_t y, index_t width, index_t height, text_view style,
               text_view hint = {}) {
    box("class", style, x, y, width, height, hint);
  }
  /// Adds a block of the tensor: its colour, its hatching, stripes if it is pending, and its
  /// border.
  void put_block(index_t x, index_t y, index_t width, index_t height, index_t number, bool pending,
                 text_view hint = {}) {
    bounded_text<8> colour;
    colour << 'c' << number % colour_count;
    box("class", colour, x, y, width, height, {});
    if (number % hatch_count != 0) {
      bounded_text<24> pattern;
      pattern << "url(#sw-" << hatch_names[number % hatch_count] << ')';
      box("fill", pattern, x, y, width, height, {});
    }
    if (pending) box("fill", "url(#sw-partial)", x, y, width, height, {});
    box("class", "edge", x, y, width, height, hint, true);
  }
  /// Adds lines of text in the middle of a box, on a plate that keeps them readable; omitted if the
  /// box is too small.
  template <class Lines>
  void put_label(index_t x, index_t y, index_t width, index_t height, const Lines& lines) {
    std::size_t longest = 0;
    for (const auto& line : lines) longest = line.size() > longest ? line.size() : longest;
    const index_t across = text_width(longest) + 6;
    const index_t down = lines.ssize() * 15 + 3;
    if (longest == 0 || across > width || down > height) return;
    const index_t top = y + (height - down) / 2;
    put_box(x + (width - across) / 2, top, across, down, "plate");
    index_t base = top + 13;
    for (const auto& line : lines) {
      put_centred(x + width / 2, base, line);
      base += 15;
    }
  }

  /// Adds a straight line; `arrow` adds a tip at its end. `style` is a class, `thick` its width.
  void put_line(index_t x1, index_t y1, index_t x2, index_t y2, text_view style,
                index_t thick = 1) {
    body_ += "<path class=\"";
    escape(style);
    body_ += "\" fill=\"none\"";
    number(" stroke-width=\"", thick);
    number("\" d=\"M", x1);
    number(" ", y1);
    number("L", x2);
    number(" ", y2);
    body_ += "\"/>\n";
    reach(x1 > x2 ? x1 : x2, y1 > y2 ? y1 : y2);
  }
  /// Adds the tip of an arrow that points down (or right) to a point.
  void put_tip(index_t x, index_t y, bool right, index_t size = 5) {
    number("<path class=\"tip\" d=\"M", x);
    number(" ", y);
    number("l", right ? -2 * size : -size);
    number(" ", right ? -size : -2 * size);
    number(right ? "v" : "h", 2 * size);
    body_ += "z\"/>\n";
    reach(x + size, y + size);
  }

  /// Returns the whole file. `title` describes the picture for screen readers.
  [[nodiscard]] std::string finish(text_view title) const {
    svg_document whole;
    std::string& out = whole.body_;
    out = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"";
    whole.number(" width=\"", width_ + margin);
    whole.number("\" height=\"", height_ + margin);
    whole.number("\" viewBox=\"0 0 ", width_ + margin);
    whole.number(" ", height_ + margin);
    out += "\">\n<title>";
    whole.escape(title);
    out += "</title>\n";
    out.append(style_sheet.data(), style_sheet.size());
    out += "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
    out += body_;
    out += "</svg>\n";
    return out;
  }

  /// The margin around a picture in pixels.
  static constexpr index_t margin = 14;

 private:
  static constexpr index_t font_size(text_view style) noexcept {
    return style.size() > 1 && style[1] == ' ' ? (style[0] == 't' ? 14 : 11) : 12;
  }
  void number(text_view before, index_t value) {
    bounded_text<24> digits;
    digits << value;
    body_.append(before.data(), before.size());
    body_.append(digits.data(), digits.size());
  }
  /// Writes text with the special characters of the file format replaced.
  void escape(text_view words) {
    for (const char c : words) {
      if (c == '&')
        body_ += "&amp;";
      else if (c == '<')
        body_ += "&lt;";
      else if (c == '>')
        body_ += "&gt;";
      else if (c == '"')
        body_ += "&quot;";
      else
        body_ += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  svg_document& open(text_view element, index_t x, index_t y, text_view style) {
    body_ += '<';
    body_.append(element.data(), element.size());
    number(" x=\"", x);
    number("\" y=\"", y);
    body_ += '"';
    return attribute("class", style);
  }
  svg_document& attribute(text_view name, text_view value) {
    body_ += ' ';
    body_.append(name.data(), name.size());
    body_ += "=\"";
    escape(value);
    body_ += '"';
    return *this;
  }
  void close(text_view words) {
    body_ += '>';
    escape(words);
    body_ += "</text>\n";
  }
  void box(text_view by, text_view value, index_t x, index_t y, index_t width, index_t height,
           text_view hint, bool sharp = false) {
    number("<rect x=\"", x);
    number("\" y=\"", y);
    number("\" width=\"", width);
    number("\" height=\"", height);
    body_ += '"';
    attribute(by, value);
    if (sharp) attribute("pointer-events", "all");
    if (hint.empty()) {
      body_ += "/>\n";
    } else {
      body_ += "><title>";
      escape(hint);
      body_ += "</title></rect>\n";
    }
    reach(x + width, y + height);
  }

  std::string body_;
  index_t width_ = 0;
  index_t height_ = 0;
};

}  // namespace shardwise::detail
