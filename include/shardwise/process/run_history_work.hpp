// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/process/run_history.hpp"

namespace shardwise {

namespace detail {

/// Returns the hash and the name of an event in the text of a history; empty if it is not there.
[[nodiscard]] inline std::string_view event_of(std::string_view all, std::uint64_t number) {
  const std::string begin = std::to_string(number) + ' ';
  while (!all.empty()) {
    const std::string_view line = all.substr(0, all.find('\0'));
    if (line.substr(0, begin.size()) == begin) return line.substr(begin.size());
    all.remove_prefix(std::min(all.size(), line.size() + 1));
  }
  return {};
}
/// Returns the number of the first event in the text of a history.
[[nodiscard]] inline std::uint64_t first_event_of(std::string_view all) noexcept {
  std::uint64_t number = 0;
  for (const char digit : all.substr(0, all.find(' ')))
    number = 10 * number + static_cast<std::uint64_t>(digit - '0');
  return number;
}
[[nodiscard]] inline text_view name_of_event(std::string_view event) {
  if (event.empty()) return "nothing";
  event.remove_prefix(std::min(event.size(), event.find(' ') + 1));
  return {event.data(), event.size()};
}

}  // namespace detail

SHARDWISE_INLINE std::string run_history::text() const {
  std::string all;
  const std::uint64_t first = done_.events > remembered ? done_.events - remembered : 0;
  for (std::uint64_t i = first; i < done_.events; ++i) {
    const event& each = events_[i % remembered];
    all += std::to_string(i) + ' ' + std::to_string(each.running) + ' ' + each.words.data() + '\0';
  }
  return all;
}

SHARDWISE_INLINE message_text run_history::difference(
    index_t self, index_t other, const std::optional<std::string>& theirs) const {
  const std::string mine = text();
  std::string_view ours, differs;
  const std::uint64_t first =
      theirs ? std::max(detail::first_event_of(mine), detail::first_event_of(*theirs)) : 0;
  std::uint64_t i = first;
  for (; theirs && i <= done_.events + remembered; ++i) {
    ours = detail::event_of(mine, i);
    differs = detail::event_of(*theirs, i);
    if (ours != differs) break;
  }
  message_text both;
  if (first > 0 && i == first)
    both << "they differ since before the last " << remembered << " programs and reads; ";
  else if (detail::name_of_event(ours) == detail::name_of_event(differs))
    both << "the same with other tensors or numbers; ";
  both << "owner " << self << " runs " << detail::name_of_event(ours) << "; owner " << other
       << " runs " << detail::name_of_event(differs);
  return both;
}

}  // namespace shardwise
