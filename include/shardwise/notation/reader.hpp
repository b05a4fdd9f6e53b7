// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

namespace shardwise {

/// The verdict of a parser: empty, or the position of the failure and the reason.
///
///     parse_hlo("{devices=[2,2]0,1,2}", devices).verdict;    // position 19, "a tile has a device"
struct parse_verdict {
  std::size_t position = 0;
  text_view reason{};

  /// True if the text was read to its end.
  [[nodiscard]] constexpr bool ok() const noexcept { return reason.empty(); }

  friend constexpr bool operator==(const parse_verdict&, const parse_verdict&) = default;
};

/// Reads text from left to right. The first failure is kept; after it nothing matches and numbers
/// are zero, so a parser needs to check the verdict only at its end.
///
///     reader in("[2, 4]");
///     in.expect('[', "a list begins with [");
///     in.number(99, "a size");                              // 2
class text_reader {
 public:
  explicit constexpr text_reader(text_view words) noexcept : words_(words) {}

  [[nodiscard]] constexpr bool ok() const noexcept { return verdict_.ok(); }
  [[nodiscard]] constexpr std::size_t position() const noexcept { return position_; }
  [[nodiscard]] constexpr const parse_verdict& verdict() const noexcept { return verdict_; }

  /// Returns the position of the next character that is not blank.
  constexpr std::size_t here() noexcept {
    skip_blanks();
    return position_;
  }
  /// Returns the next character that is not blank, or zero at the end and after a failure.
  constexpr char peek() noexcept {
    skip_blanks();
    return ok() && position_ < words_.size() ? words_[position_] : '\0';
  }

  /// Consumes the next character if it is `c`.
  constexpr bool accept(char c) noexcept {
    if (c == '\0' || peek() != c) return false;
    ++position_;
    return true;
  }
  /// Consumes `word` if it comes next and is not part of a longer word.
  constexpr bool accept(text_view word) noexcept {
    if (peek() == '\0' || !(words_.substr(position_, word.size()) == word)) return false;
    const std::size_t after = position_ + word.size();
    const bool word_ends =
        !is_word(word[word.size() - 1]) || after >= words_.size() || !is_word(words_[after]);
    if (word_ends) position_ = after;
    return word_ends;
  }

  /// Consumes `what`, or fails.
  constexpr bool expect(char what, text_view reason) noexcept {
    return accept(what) || fail(reason);
  }
  constexpr bool expect(text_view what, text_view reason) noexcept {
    return accept(what) || fail(reason);
  }

  /// Reads a number from 0 to `most`, or fails.
  constexpr index_t number(index_t most, text_view reason) noexcept {
    if (!is_digit(peek())) return fail(reason), 0;
    const std::size_t begin = position_;
    index_t value = 0;
    while (position_ < words_.size() && is_digit(words_[position_])) {
      const index_t digit = words_[position_] - '0';
      if (digit > most || value > (most - digit) / 10) return fail_at(begin, reason), 0;
      value = value * 10 + digit;
      ++position_;
    }
    return value;
  }

  /// Reads a possibly empty run of letters, digits and `_`.
  constexpr text_view word() noexcept {
    if (peek() == '\0') return {};
    const std::size_t begin = position_;
    while (position_ < words_.size() && is_word(words_[position_])) ++position_;
    return words_.substr(begin, position_ - begin);
  }

  /// Records the first failure, here or at an earlier position; returns false.
  constexpr bool fail(text_view reason) noexcept { return fail_at(position_, reason); }
  constexpr bool fail_at(std::size_t position, text_view reason) noexcept {
    if (ok()) verdict_ = {position, reason};
    return false;
  }

  /// Skips a quoted string, in which braces, blanks and comments have no meaning, if one comes
  /// next.
  constexpr bool skip_quoted() noexcept {
    if (peek() != '"') return false;
    std::size_t end = position_ + 1;
    while (end < words_.size() && words_[end] != '"')
      end += words_[end] == '\\' ? std::size_t{2} : std::size_t{1};
    if (end >= words_.size()) return fail("a string ends with \"");
    position_ = end + 1;
    return true;
  }
  /// Fails unless only blanks are left; returns the verdict on the whole text.
  constexpr parse_verdict finish() noexcept {
    skip_blanks();
    if (position_ < words_.size()) fail("nothing follows the end");
    return verdict_;
  }

  [[nodiscard]] static constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  [[nodiscard]] static constexpr bool is_word(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

 private:
  // Blanks, line ends, and comments like /*index=5*/.
  constexpr void skip_blanks() noexcept {
    while (ok() && position_ < words_.size()) {
      const char c = words_[position_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++position_;
      } else if (words_.substr(position_, 2) == "/*") {
        std::size_t end = position_ + 2;
        while (end < words_.size() && !(words_.substr(end, 2) == "*/")) ++end;
        if (end >= words_.size()) {
          fail("a comment ends with */");
          return;
        }
        position_ = end + 2;
      } else {
        return;
      }
    }
  }

  text_view words_;
  std::size_t position_ = 0;
  parse_verdict verdict_{};
};

}  // namespace shardwise
