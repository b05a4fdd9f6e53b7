// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/npy_header.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace shardwise::detail {

/// The names of element types in the format, without their byte order, in the order of `element`.
inline constexpr std::string_view npy_names[element_types] = {"f4", "f8", "i4", "i8", "b1",
                                                              "i1", "u1", "V2", "f2"};

/// Sets the elements of a header to those that a string of Python stands for, such as `<f4`.
/// Returns false if it is no name of elements.
[[nodiscard]] inline bool set_npy_elements(std::string_view descr, npy_header& to) {
  std::string_view name = descr;
  const bool has_order = !name.empty() && std::string_view("<>=|").find(name[0]) != name.npos;
  const char order = has_order ? name[0] : '=';
  if (has_order) name.remove_prefix(1);
  if (name.empty() || name[0] < '?' || name[0] > 'z') return false;
  constexpr bool is_little = std::endian::native == std::endian::little;
  const bool is_reversed = order == (is_little ? '>' : '<');
  for (int i = 0; i < element_types; ++i) {
    if (name != npy_names[i]) continue;
    to.type = static_cast<element>(i);
    if (to.type == element::bf16 && is_reversed) break;
    to.width = size_of(to.type);
    to.is_swapped = is_reversed && to.width > 1;
    return true;
  }
  to.other_type = descr;
  // The size of others, where it is told: i2, c16, U10 (of 4 bytes each), M8[ns].
  index_t width = 0;
  const char* const digits = name.data() + 1;
  (void)std::from_chars(digits, name.data() + name.size(), width);
  constexpr index_t most = index_t{1} << 40;
  if (width > 0 && width < most && name[0] != 'O') to.width = name[0] == 'U' ? 4 * width : width;
  return true;
}

/// Reads a literal of Python: the dictionary of a header.
class npy_parser {
 public:
  /// `first` is the place of the text in the file.
  npy_parser(std::string_view text, index_t first) : text_(text), first_(first) {}

  /// Reads all of it; returns the reason why it is none.
  [[nodiscard]] std::string read(npy_header& out) {
    if (!take('{')) return expected("'{'");
    while (!take('}')) {
      std::string reason = read_pair(out);
      if (!reason.empty()) return reason;
      if (take(',')) continue;
      if (!take('}')) return expected("',' or '}'");
      break;
    }
    skip_blanks();
    if (place_ != text_.size()) return expected("nothing but blanks");
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (!has_[i]) return "its header has no key '" + std::string(keys[i]) + "'";
    return {};
  }

 private:
  static constexpr std::array<std::string_view, 3> keys = {"descr", "fortran_order", "shape"};

  [[nodiscard]] std::string expected(std::string_view what) const {
    const std::size_t shown = std::min(text_.size() - place_, std::size_t{8});
    std::string out = "at byte " + std::to_string(first_ + static_cast<index_t>(place_)) +
                      " of its header, " + std::string(what) + " was expected, not ";
    return out + internal::first_bytes(std::as_bytes(std::span(text_.substr(place_, shown))));
  }
  [[nodiscard]] static std::string wrong(std::string_view key, std::string_view what) {
    return "its header has another '" + std::string(key) + "' than " + std::string(what);
  }

  void skip_blanks() noexcept {
    place_ = std::min(text_.find_first_not_of(" \t\r\n\f", place_), text_.size());
  }
  [[nodiscard]] bool take(char c) noexcept {
    skip_blanks();
    if (place_ == text_.size() || text_[place_] != c) return false;
    ++place_;
    return true;
  }
  [[nodiscard]] bool take(std::string_view word) noexcept {
    skip_blanks();
    if (text_.substr(place_, word.size()) != word) return false;
    place_ += word.size();
    return true;
  }
  /// Takes a string in quotes of either kind, without escapes.
  [[nodiscard]] bool take_string(std::string_view& out) noexcept {
    const bool is_single = take('\'');
    if (!is_single && !take('"')) return false;
    const std::size_t end = text_.find_first_of(is_single ? "'\\\n" : "\"\\\n", place_);
    if (end == text_.npos || text_[end] != (is_single ? '\'' : '"')) return false;
    out = text_.substr(place_, end - place_);
    place_ = end + 1;
    return true;
  }

  [[nodiscard]] std::string read_pair(npy_header& out) {
    const std::size_t before = place_;
    std::string_view key;
    if (!take_string(key)) return place_ = before, expected("a key in quotes");
    std::size_t which = 0;
    while (which < keys.size() && keys[which] != key) ++which;
    if (which == keys.size())
      return place_ = before, expected("'descr', 'fortran_order' or 'shape'");
    if (std::exchange(has_[which], true))
      return "its header has the key '" + std::string(key) + "' twice";
    if (!take(':')) return expected("':'");
    if (which == 0) return read_descr(out);
    if (which == 2) return read_shape(out);
    out.is_fortran = take("True");
    if (!out.is_fortran && !take("False")) return wrong(key, "True or False");
    return {};
  }
  [[nodiscard]] std::string read_descr(npy_header& out) {
    skip_blanks();
    const std::size_t begin = place_;
    if (std::string_view name; take_string(name))
      return set_npy_elements(name, out) ? "" : wrong("descr", "the name of elements");
    place_ = begin;
    if (place_ == text_.size() || text_[place_] != '[' || !skip_literal())
      return wrong("descr", "a string or a list");
    out.other_type = text_.substr(begin, std::min(place_ - begin, std::size_t{200}));
    return {};
  }
  /// Skips a list, to the bracket that closes its first one.
  [[nodiscard]] bool skip_literal() noexcept {
    int depth = 0;
    while (place_ < text_.size()) {
      const char c = text_[place_++];
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      if (depth == 0) return true;
      if (c != '\'' && c != '"') continue;
      while (place_ < text_.size() && text_[place_] != c) place_ += text_[place_] == '\\' ? 2U : 1U;
      ++place_;
    }
    return false;
  }
  [[nodiscard]] std::string read_shape(npy_header& out) {
    constexpr std::string_view what = "whole numbers in '()', with ',' after each";
    if (!take('(')) return wrong("shape", what);
    bool had_comma = true;
    while (!take(')')) {
      skip_blanks();
      if (place_ >= text_.size()) return expected("')'");
      std::uint64_t size = 0;
      const char* const begin = text_.data() + place_;
      const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (problem != std::errc{} || !had_comma) return expected("a whole number");
      place_ += static_cast<std::size_t>(end - begin);
      if (place_ < text_.size() && text_[place_] == 'L') ++place_;  // of Python 2
      if (size > static_cast<std::uint64_t>(max_elements))
        return wrong("shape", "that of an array");
      out.shape.push_back(static_cast<index_t>(size));
      had_comma = take(',');
    }
    if (out.shape.size() == 1 && !had_comma) return wrong("shape", what);
    return {};
  }

  std::string_view text_;
  index_t first_;
  std::size_t place_ = 0;
  std::array<bool, 3> has_{};
};

}  // namespace shardwise::detail
