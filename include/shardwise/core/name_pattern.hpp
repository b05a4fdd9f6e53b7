// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

#include <cstddef>

namespace shardwise {

/// Returns true if a name matches a pattern: `*` matches any characters, or none, `?` exactly one.
///
///     static_assert(name_matches("layers.3.mlp.up.bias", "layers.*.bias"));
[[nodiscard]] constexpr bool name_matches(text_view name, text_view pattern) noexcept {
  // The place of the last *, and the first character of the name behind what it matches.
  std::size_t n = 0, p = 0, star = pattern.size(), behind = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++n;
      ++p;
    } else if (star < pattern.size()) {
      p = star + 1;
      n = ++behind;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// Returns true if a pattern matches a name, or the name of a module that it is in: `layers.*.up`
/// names `layers.0.up.weight` too.
[[nodiscard]] constexpr bool name_is_under(text_view name, text_view pattern) noexcept {
  for (std::size_t end = 1; end <= name.size(); ++end)
    if ((end == name.size() || name[end] == '.') && name_matches(name.substr(0, end), pattern))
      return true;
  return name.empty() && name_matches(name, pattern);
}

}  // namespace shardwise
