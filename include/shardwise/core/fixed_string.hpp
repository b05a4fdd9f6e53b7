// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

#include <concepts>
#include <cstddef>

namespace shardwise {

/// A string that can be a template argument, exactly as long as its text.
///
/// `Size` counts the terminating zero, as the array of a literal does, so compilers print
/// `fixed_string<6>{"model"}` and the text is readable in their errors.
template <std::size_t Size>
struct fixed_string {
  char characters[Size];

  constexpr fixed_string(const char (&literal)[Size]) noexcept {
    for (std::size_t i = 0; i < Size; ++i) characters[i] = literal[i];
  }

  /// Accepts a number where text is required, as in `P<3>`. The text is `(number)`, which every
  /// rule about names rejects.
  constexpr fixed_string(int) noexcept : fixed_string("(number)") {}

  /// Accepts `P<"data", nullptr>`: the empty text, which is `none`.
  constexpr fixed_string(decltype(nullptr)) noexcept : fixed_string("") {}

  [[nodiscard]] constexpr const char* data() const noexcept { return characters; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return Size - 1; }

  friend constexpr bool operator==(const fixed_string&, const fixed_string&) = default;
};
// clang-format off
fixed_string(int) -> fixed_string<sizeof("(number)")>;
fixed_string(decltype(nullptr)) -> fixed_string<1>;
// clang-format on

/// The first `Length` characters of `words` as a template argument; turns a computed name into part
/// of a type.
template <std::size_t Length>
[[nodiscard]] constexpr fixed_string<Length + 1> to_fixed_string(text_view words) noexcept {
  char characters[Length + 1]{};
  for (std::size_t i = 0; i < Length; ++i) characters[i] = words[i];
  return fixed_string<Length + 1>(characters);
}

/// A short name stored by value, of an axis, a dimension or a function: at most 23 characters.
class short_name {
 public:
  static constexpr std::size_t capacity = 23;

  constexpr short_name() = default;
  /// Keeps the first 23 characters of `words`; `is_cut` tells whether there were more.
  constexpr short_name(text_view words) noexcept {
    for (char c : words)
      if (size_ < capacity)
        characters_[size_++] = c;
      else
        size_ = static_cast<unsigned char>(capacity | cut);
  }
  template <std::size_t N>
  constexpr short_name(const char (&literal)[N]) noexcept : short_name(text_view(literal)) {}
  /// A `std::string`, a `std::string_view` or a zero-terminated string.
  template <class S>
    requires(std::same_as<S, const char*> || requires { S::npos; })
  constexpr short_name(const S& words) noexcept : short_name(text_view(words)) {}

  [[nodiscard]] constexpr const char* data() const noexcept { return characters_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_ & ~cut; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// Returns true if the name was made from more characters than it can hold.
  [[nodiscard]] constexpr bool is_cut() const noexcept { return (size_ & cut) != 0; }

  friend constexpr bool operator==(const short_name&, const short_name&) = default;

 private:
  static constexpr unsigned cut = 0x80;

  char characters_[capacity]{};
  unsigned char size_ = 0;
};

/// Writes a name to a stream. It is a template so that literals, which convert to names, still use
/// the stream's own operator.
template <CharacterStream Stream, std::same_as<short_name> Name>
Stream& operator<<(Stream& out, const Name& words) {
  return out << text_view(words);
}

}  // namespace shardwise
