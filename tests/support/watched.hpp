// SPDX-License-Identifier: BSL-1.0
// Programs that a sanitizer watches take ten times as long, and a developer waits for the quick
// tests: they try fewer cases of the same code.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace support {

/// True in programs that a sanitizer watches, and in quick ones.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(SHARDWISE_FEWER_CASES)
inline constexpr bool is_watched = true;
#elif defined(__has_feature)
inline constexpr bool is_watched =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_watched = false;
#endif

/// True in the tests that a developer waits for; all others try every row.
#if defined(SHARDWISE_FEWER_CASES)
inline constexpr bool is_quick = true;
#else
inline constexpr bool is_quick = false;
#endif

/// All cases or, in watched programs, one of `share`.
template <class Case>
[[nodiscard]] std::vector<Case> sampled(std::vector<Case> cases, std::size_t share) {
  if (!is_watched) return cases;
  std::vector<Case> some;
  for (std::size_t i = 0; i < cases.size(); i += share) some.push_back(std::move(cases[i]));
  return some;
}

/// All cases or, in quick programs, one of `share`.
template <class Case>
[[nodiscard]] std::vector<Case> sampled_if_quick(std::vector<Case> cases, std::size_t share) {
  return is_quick ? sampled(std::move(cases), share) : cases;
}

}  // namespace support
