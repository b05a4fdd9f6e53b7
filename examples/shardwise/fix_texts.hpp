// SPDX-License-Identifier: BSL-1.0
// Texts like one that is wrong at a known place.
#pragma once

#include "place.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// How many letters have to be added, left out or replaced to make one word of another.
[[nodiscard]] inline std::size_t letters_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t before = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = before + (a[i] == b[j] ? 0U : 1U);
      before = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, before + 1});
    }
  }
  return row.back();
}

/// The words that may have been meant, most alike first.
[[nodiscard]] inline std::vector<std::string> most_alike(std::vector<std::string> choices,
                                                         std::string_view word) {
  // All axes of a mesh may be meant, but of many words only those with the same letters.
  constexpr std::size_t few = 8;
  if (choices.size() > few)
    std::erase_if(choices, [&](const std::string& one) {
      return letters_between(one, word) > std::max(std::size_t{2}, word.size() / 3);
    });
  std::stable_sort(choices.begin(), choices.end(), [&](const auto& a, const auto& b) {
    return letters_between(a, word) < letters_between(b, word);
  });
  return choices;
}

/// A part of a text, and the text with other words in its place.
struct text_part {
  std::string_view text;
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::string_view words() const { return text.substr(begin, end - begin); }
  [[nodiscard]] std::string with(std::string_view other) const {
    return std::string(text.substr(0, begin)) + std::string(other) + std::string(text.substr(end));
  }
  /// The same with the characters around it, if they are those.
  [[nodiscard]] bool is_between(char left, char right) const {
    return begin > 0 && end < text.size() && text[begin - 1] == left && text[end] == right;
  }
  /// The part with the quotes around it.
  [[nodiscard]] text_part quoted() const {
    const bool is_quoted = is_between('\'', '\'') || is_between('"', '"');
    return is_quoted ? text_part{text, begin - 1, end + 1} : *this;
  }
};

/// What closes all that is open at the end of a text.
[[nodiscard]] inline std::string closings_of(std::string_view text) {
  std::string open;
  for (const char c : text) {
    constexpr std::string_view begins = "([{<", ends = ")]}>";
    const bool in_quotes = !open.empty() && (open.back() == '\'' || open.back() == '"');
    if (c == '\'' || c == '"') {
      if (in_quotes && open.back() == c)
        open.pop_back();
      else if (!in_quotes)
        open += c;
    } else if (!in_quotes && begins.find(c) != begins.npos) {
      open += ends[begins.find(c)];
    } else if (!in_quotes && !open.empty() && open.back() == c) {
      open.pop_back();
    }
  }
  return {open.rbegin(), open.rend()};
}

/// Texts in which a word is left out: as no axis of a dimension in each notation, and with the sign
/// that joins it to others.
[[nodiscard]] inline std::vector<std::string> without(const text_part& word) {
  const text_part all = word.quoted();
  std::vector<std::string> out;
  const std::string_view text = all.text;
  const bool joined_left =
      all.begin > 0 && std::string_view("@+,").find(text[all.begin - 1]) != text.npos;
  const bool joined_right = all.end < text.size() && (text[all.end] == '+' || text[all.end] == ',');
  if (all.begin != word.begin) out.push_back(all.with("None"));
  out.push_back(all.with("-"));
  if (joined_left) out.push_back(text_part{text, all.begin - 1, all.end}.with(""));
  if (joined_right) out.push_back(text_part{text, all.begin, all.end + 1}.with(""));
  out.push_back(all.with(""));
  if (text.find("S(") != text.npos || text.find('R') != text.npos) out.push_back(all.with("R"));
  return out;
}

/// Texts that end or go on where a reader stopped.
[[nodiscard]] inline std::vector<std::string> repaired(std::string_view text, std::size_t at) {
  std::vector<std::string> out;
  if (const std::string closings = closings_of(text); !closings.empty())
    out.push_back(std::string(text) + closings);
  for (const std::string_view one : {")", "]", "}", ">", "'", "\"", ",", "}]>", "0", "2", "=2"})
    out.push_back(text_part{text, at, at}.with(one));
  if (at < text.size()) out.push_back(text_part{text, at, at + 1}.with(""));
  if (at > 0) out.push_back(text_part{text, at - 1, at}.with(""));
  out.push_back("{" + std::string(text) + "}");
  const std::string begin(text.substr(0, at));
  out.push_back(begin + closings_of(begin));
  if (!begin.empty()) out.push_back(begin.substr(0, begin.size() - 1));
  return out;
}

/// The runs of letters and digits of a text, or of digits alone.
[[nodiscard]] inline std::vector<std::string> words_of(std::string_view text,
                                                       bool only_digits = false) {
  std::vector<std::string> words(1);
  for (const char c : text)
    if (only_digits ? c >= '0' && c <= '9' : detail::is_word(c))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace tool
