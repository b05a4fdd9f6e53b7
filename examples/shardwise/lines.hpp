// SPDX-License-Identifier: BSL-1.0
// Lines of input, of bounded length.
#pragma once

#include <cstddef>
#include <optional>
#include <streambuf>
#include <string>

namespace tool {

/// Reads lines as they come. Of a line that is too long nothing is kept.
class line_reader {
 public:
  /// The most characters of a line.
  static constexpr std::size_t most = std::size_t{16} << 20U;

  struct line {
    std::string words{};
    bool too_long = false;
  };

  explicit line_reader(std::streambuf& input) : input_(input) {}

  /// The next line without its end, or nothing at the end of the input.
  [[nodiscard]] std::optional<line> next() {
    constexpr auto end = std::char_traits<char>::eof();
    line read;
    int c = input_.sbumpc();
    if (c == end) return std::nullopt;
    for (; c != end && c != '\n'; c = input_.sbumpc()) {
      if (read.words.size() == most) {
        read.too_long = true;
        read.words.clear();
      }
      if (!read.too_long) read.words += static_cast<char>(c);
    }
    return read;
  }

 private:
  std::streambuf& input_;
};

}  // namespace tool
