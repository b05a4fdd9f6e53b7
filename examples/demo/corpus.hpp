// SPDX-License-Identifier: BSL-1.0
// The text as bytes, and where samples of it begin.
#pragma once

#include "sizes.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace demo {

/// Where the samples of a batch begin.
using places = std::array<index_t, std::size_t{batch}>;

/// Text to train on and text that is held out: the end of every 16 KiB, or of a shorter text, of
/// which no byte is ever trained on.
class corpus {
 public:
  /// The shortest text of which a sample fits into what is held out.
  static constexpr std::size_t shortest = 16 * (std::size_t{positions} + 1);

  explicit corpus(std::string text)
      : text_(std::move(text)),
        period_(std::min<index_t>(size(), 16384)),
        held_out_(period_ / 16) {}

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(text_.size()); }
  [[nodiscard]] std::int32_t code(index_t at) const noexcept {
    return static_cast<unsigned char>(text_[static_cast<std::size_t>(at)]);
  }
  [[nodiscard]] std::string_view part(index_t at, index_t count) const noexcept {
    return std::string_view(text_).substr(static_cast<std::size_t>(at),
                                          static_cast<std::size_t>(count));
  }
  /// Samples of the text that is trained on, or of what is held out, each with the byte after it.
  [[nodiscard]] places draw(std::mt19937_64& random, bool is_held_out) const {
    const index_t first = is_held_out ? period_ - held_out_ : 0;
    const index_t length = is_held_out ? held_out_ : period_ - held_out_;
    const auto below = [&](index_t bound) {
      return static_cast<index_t>(random() % static_cast<std::uint64_t>(bound));
    };
    places from{};
    for (index_t& place : from)
      place = below(size() / period_) * period_ + first + below(length - positions);
    return from;
  }

 private:
  std::string text_;
  index_t period_;
  index_t held_out_;
};

/// Calls `f(word)` for the words of three letters or more in a text.
template <class F>
void for_each_word(std::string_view text, const F& f) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    if (word.size() >= 3) f(word);
    word.clear();
  }
}

/// How many of the words in `lines` are words of the text, and how many there are.
template <class Lines>
[[nodiscard]] std::pair<long, long> count_words(const corpus& text, const Lines& lines) {
  std::set<std::string> known;
  for_each_word(text.part(0, text.size()), [&](const std::string& word) { known.insert(word); });
  std::pair<long, long> count{0, 0};
  for (const std::string& line : lines)
    for_each_word(line, [&](const std::string& word) {
      count.first += known.count(word) != 0 ? 1 : 0;
      ++count.second;
    });
  return count;
}

}  // namespace demo
