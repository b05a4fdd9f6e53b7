// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shardwise::internal {

/// Returns the length of the UTF-8 sequence that a text begins with, or 0 if it begins with none: a
/// sequence is the shortest one of its character, which is no half of a surrogate pair and at most
/// U+10FFFF.
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return text.empty() ? 0 : 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // After some leads the second byte has fewer values.
  const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

/// Appends a text as a string of JSON, in quotes; returns false if it is not UTF-8.
[[nodiscard]] inline bool append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view escaped = "\"\\\b\t\n\f\r", letters = "\"\\btnfr";
  constexpr char digits[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    const char first = text.front();
    if (const std::size_t at = escaped.find(first); at != std::string_view::npos) {
      out += '\\';
      out += letters[at];
    } else if (const auto code = static_cast<unsigned char>(first); code < 0x20) {
      out += "\\u00";
      out += digits[code >> 4U];
      out += digits[code & 0xfU];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
  return true;
}

}  // namespace shardwise::internal
