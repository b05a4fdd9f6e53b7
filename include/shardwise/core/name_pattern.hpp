// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

#include <cstddef>

namespace shardwise {

namespace detail {

/// Matches a name against a pattern; `Below` also accepts `.*` after the pattern. Plans match many
/// names in one constant expression, whose steps compilers limit, so this avoids views and calls.
template <bool Below>
[[nodiscard]] constexpr bool matches_pattern(const char* name, std::size_t name_size,
                                             const char* pattern,
                                             std::size_t pattern_size) noexcept {
  const std::size_t size = pattern_size + (Below ? 2 : 0), no_star = size + 1;
  // The position of the last *, and the first character of the name after what it matches.
  std::size_t n = 0, p = 0, star = no_star, behind = 0;
  while (n < name_size) {
    const char c = p < pattern_size ? pattern[p]
                   : p == size      ? '\0'
                                    : (p == pattern_size ? '.' : '*');
    if (c == '*' && p < size) {
      star = p++;
      behind = n;
    } else if (p < size && (c == '?' || c == name[n])) {
      ++n;
      ++p;
    } else if (star != no_star) {
      p = star + 1;
      n = ++behind;
    } else {
      return false;
    }
  }
  while (p < pattern_size && pattern[p] == '*') ++p;
  return p == size || (Below && p == pattern_size + 1);
}

}  // namespace detail

/// Returns true if a name matches a pattern: `*` matches any characters, including none, `?`
/// exactly one.
///
///     static_assert(name_matches("layers.3.mlp.up.bias", "layers.*.bias"));
[[nodiscard]] constexpr bool name_matches(text_view name, text_view pattern) noexcept {
  return detail::matches_pattern<false>(name.data(), name.size(), pattern.data(), pattern.size());
}

/// Returns true if a pattern matches a name or the name of a module that contains it: `layers.*.up`
/// also matches `layers.0.up.weight`.
[[nodiscard]] constexpr bool name_is_under(text_view name, text_view pattern) noexcept {
  return name_matches(name, pattern) ||
         detail::matches_pattern<true>(name.data(), name.size(), pattern.data(), pattern.size());
}

}  // namespace shardwise
