// SPDX-License-Identifier: BSL-1.0
// Programs that a sanitizer watches take ten times as long: they try fewer cases of the same code.
#pragma once

#include <cstddef>
#include <vector>

namespace support {

/// True in programs that a sanitizer watches.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_watched = true;
#elif defined(__has_feature)
inline constexpr bool is_watched =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_watched = false;
#endif

/// All cases or, in programs that a sanitizer watches, one of `share`.
template <class Case>
[[nodiscard]] std::vector<Case> sampled(std::vector<Case> cases, std::size_t share) {
  if (!is_watched) return cases;
  std::vector<Case> some;
  for (std::size_t i = 0; i < cases.size(); i += share) some.push_back(std::move(cases[i]));
  return some;
}

}  // namespace support
