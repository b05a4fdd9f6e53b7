// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/reader.hpp"

namespace shardwise {

/// True if the text is a tuple of shardings: `{{replicated}, {manual}}`.
[[nodiscard]] constexpr bool is_hlo_tuple(text_view words) noexcept {
  text_reader in(words);
  return in.accept('{') && (in.peek() == '{' || in.peek() == '}');
}

/// Reads a tuple of shardings. Calls `each(element)` with the text of each, which returns its
/// verdict; stops at the first failure and returns its position in the whole text.
///
///     parse_hlo_tuple("{{replicated}, {manual}}", [&](text_view element) {
///       return parse_hlo(element, devices).verdict;
///     });
template <class F>
[[nodiscard]] constexpr parse_verdict parse_hlo_tuple(text_view words, F&& each) {
  text_reader in(words);
  in.expect('{', "a tuple begins with {");
  if (in.accept('}')) return in.finish();
  do {
    const char open = in.peek();
    const std::size_t begin = in.here();
    if (open != '{') in.fail("an element of a tuple begins with {");
    for (int depth = 0; in.ok();) {
      if (in.skip_quoted()) continue;
      const char c = in.peek();
      if (c == '\0' || !in.accept(c)) in.fail("an element of a tuple ends with }");
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) break;
    }
    if (!in.ok()) break;
    const parse_verdict verdict = each(words.substr(begin, in.position() - begin));
    if (!verdict.ok()) in.fail_at(begin + verdict.position, verdict.reason);
  } while (in.accept(','));
  in.expect('}', "a tuple ends with }");
  return in.finish();
}

}  // namespace shardwise
