// SPDX-License-Identifier: BSL-1.0
// Where a request is wrong: the place of a word in the text of an option.
#pragma once

#include "refusal.hpp"

#include <algorithm>

namespace tool {

namespace detail {

[[nodiscard]] constexpr bool is_word(char c) noexcept {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The last place of a whole word: of an axis that is named twice, the second one is wrong.
[[nodiscard]] inline std::optional<std::size_t> find_word(std::string_view text,
                                                          std::string_view word) {
  for (std::size_t at = text.rfind(word); at != text.npos;
       at = at == 0 ? text.npos : text.rfind(word, at - 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word(text[at - 1]) || !is_word(word.front());
    const bool ends = end == text.size() || !is_word(text[end]) || !is_word(word.back());
    if (begins && ends) return at;
  }
  return std::nullopt;
}

}  // namespace detail

/// Completes a refusal that is about the text of an option: its name, the place and the length of
/// what is wrong there, as far as they are known.
[[nodiscard]] inline refusal located(refusal why, std::string_view option, std::string_view text) {
  if (!why.option.empty() && why.option != option) return why;
  why.option = std::string(option);
  if (!why.at && !why.word.empty()) {
    why.at = detail::find_word(text, why.word);
    if (why.at) why.length = why.word.size();
  }
  if (!why.at || why.length > 0) return why;
  why.at = std::min(*why.at, text.size());
  // A name begins behind its quote.
  const bool is_quote =
      *why.at + 1 < text.size() && (text[*why.at] == '\'' || text[*why.at] == '"');
  if (is_quote && detail::is_word(text[*why.at + 1])) ++*why.at;
  std::size_t end = *why.at;
  while (end < text.size() && detail::is_word(text[end])) ++end;
  why.length = std::min(std::max(end - *why.at, std::size_t{1}), text.size() - *why.at);
  return why;
}

}  // namespace tool
