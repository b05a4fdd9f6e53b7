// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/process/host_values.hpp"
#include "shardwise/process/spawn.hpp"

#include <iostream>

namespace shardwise {

SHARDWISE_INLINE index_t process_index() {
  const std::shared_ptr<process_group> group = current_group::get();
  return group != nullptr ? group->index() : 0;
}

SHARDWISE_INLINE index_t process_count() {
  const std::shared_ptr<process_group> group = current_group::get();
  return group != nullptr ? group->count() : 1;
}

SHARDWISE_INLINE index_t host_process_index() {
  const std::shared_ptr<process_group> group = current_group::get();
  return group != nullptr ? group->host_index() : 0;
}

SHARDWISE_INLINE index_t host_process_count() {
  const std::shared_ptr<process_group> group = current_group::get();
  return group != nullptr ? group->host_count() : 1;
}

namespace internal {

SHARDWISE_INLINE void print_from_first(const std::string& text) {
  std::cout.write(text.data(), static_cast<std::streamsize>(text.size())).flush();
}

SHARDWISE_INLINE std::string exchange_name(std::string_view what, std::string_view name) {
  return std::string(what) + " \"" + std::string(name) + '"';
}

SHARDWISE_INLINE void require_equal_bytes(std::string_view name, std::string bytes,
                                          std::string text) {
  const host_exchange::payloads all =
      all_of_host(exchange_name("require_equal", name), std::move(bytes));
  bool are_equal = true;
  for (const std::string& each : all) are_equal = are_equal && each == all[0];
  if (are_equal) return;
  // Texts may be long, and are needed only now: all processes have found the same.
  const host_exchange::payloads texts =
      all_of_host(exchange_name("values of", name), std::move(text));
  message_text words;
  words << '"' << text_view(name.data(), name.size()) << "\" is ";
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t first = 0;
    while (all[first] != all[i]) ++first;
    if (first != i) continue;
    words << (i > 0 ? "; " : "") << text_view(texts[i].data(), texts[i].size()) << " on process ";
    for (std::size_t other = i; other < all.size(); ++other)
      if (all[other] == all[i]) words << (other > i ? ", " : "") << static_cast<index_t>(other);
  }
  fail({.rule = violation::owners_differ}, words);
}

}  // namespace internal

SHARDWISE_INLINE std::vector<std::string> rendezvous(std::string_view name, std::string payload,
                                                     std::chrono::milliseconds within) {
  return internal::all_of_host(internal::exchange_name("rendezvous", name), std::move(payload),
                               false, within);
}

SHARDWISE_INLINE double agreed_seconds() {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  const auto all =
      internal::all_of_host("agreed_seconds", internal::bytes_of_value(now.count()), true);
  return internal::value_of_bytes<double>(all[0]);
}

}  // namespace shardwise
