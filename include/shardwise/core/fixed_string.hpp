// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

#include <concepts>
#include <cstddef>

namespace shardwise {

/// A string that can be a template argument, exactly as long as its text.
///
/// `Size` counts the terminating zero, as the literal's array does: compilers then print
/// `fixed_string<6>{"model"}` and show the text in their errors.
template <std::size_t Size>
struct fixed_string {
  char characters[Size];

  constexpr fixed_string(const char (&literal)[Size]) noexcept {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = literal[i];
  }

  /// A number where a text is wanted, as in `P<3>`: `(number)`, which every rule of names refuses.
  constexpr fixed_string(int) noexcept : fixed_string("(number)") {}

  /// `P<"data", nullptr>`: the empty text, which is `none`.
  constexpr fixed_string(decltype(nullptr)) noexcept : fixed_string("") {}

  [[nodiscard]] constexpr const char* data() const noexcept { return characters; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return Size - 1; }

  friend constexpr bool operator==(const fixed_string&, const fixed_string&) = default;
};
fixed_string(int)->fixed_string<sizeof("(number)")>;
fixed_string(decltype(nullptr))->fixed_string<1>;

/// The first `Length` characters of `words` as a template argument: how a computed name gets back
/// into a type.
template <std::size_t Length>
[[nodiscard]] constexpr fixed_string<Length + 1> to_fixed_string(text_view words) noexcept {
  char characters[Length + 1]{};
  for (std::size_t i = 0; i < Length; ++i) characters[i] = words[i];
  return fixed_string<Length + 1>(characters);
}

/// A short name held by value: an axis, a dimension, a function. At most 23 characters.
class short_name {
 public:
  static constexpr std::size_t capacity = 23;

  constexpr short_name() = default;
  /// The first 23 characters of `words`; `is_cut` tells rules that there were more.
  constexpr short_name(text_view words) noexcept {
    for (char c : words)
      if (size_ < capacity)
        characters_[size_++] = c;
      else
        size_ = static_cast<unsigned char>(capacity | cut);
  }
  template <std::size_t N>
  constexpr short_name(const char (&literal)[N]) noexcept : short_name(text_view(literal)) {}

  [[nodiscard]] constexpr const char* data() const noexcept { return characters_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_ & ~cut; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// Returns true if it was made from more characters than it has.
  [[nodiscard]] constexpr bool is_cut() const noexcept { return (size_ & cut) != 0; }

  friend constexpr bool operator==(const short_name&, const short_name&) = default;

 private:
  static constexpr unsigned cut = 0x80;

  char characters_[capacity]{};
  unsigned char size_ = 0;
};

/// Writes a name to a stream; literals, which convert to names, stay the stream's own.
template <CharacterStream Stream, class Name>
requires std::same_as<Name, short_name> Stream& operator<<(Stream& out, const Name& words) {
  return out << text_view(words);
}

}  // namespace shardwise
