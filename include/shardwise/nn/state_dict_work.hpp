// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/nn/state_dict.hpp"

#include <algorithm>

namespace shardwise {

SHARDWISE_INLINE state_difference difference_of_names(const const_state_view& into,
                                                      const const_state_view& source) {
  state_difference out;
  for (const const_state_entry& each : into)
    if (source.find(each.name()) == nullptr) out.missing.push_back(each.name());
  // Files of earlier versions have the frozen parts of an optimizer's state.
  const std::vector<std::string>& left_out = into.left_out();
  for (const const_state_entry& each : source)
    if (into.find(each.name()) == nullptr &&
        std::find(left_out.begin(), left_out.end(), each.name()) == left_out.end())
      out.unexpected.push_back(each.name());
  return out;
}

namespace internal {

SHARDWISE_INLINE state_view writable(const const_state_view& of) {
  state_view out;
  for (const const_state_entry& each : of) out.push_back(state_entry(each));
  for (const std::string& each : of.left_out()) out.leave_out(each);
  return out;
}

SHARDWISE_INLINE std::string words_of(const state_difference& names) {
  const auto list = [](const char* what, const std::vector<std::string>& all) {
    std::string out = all.empty() ? "" : what;
    for (const std::string& each : all) out += (&each == all.data() ? " '" : ", '") + each + "'";
    return out;
  };
  const std::string missing = list("missing:", names.missing);
  const std::string unexpected = list("unexpected:", names.unexpected);
  return missing + (missing.empty() || unexpected.empty() ? "" : "; ") + unexpected;
}

}  // namespace internal

namespace detail {

SHARDWISE_INLINE state_difference load_state(const state_view& into, const const_state_view& source,
                                             state_names names) {
  state_difference apart = difference_of_names(into, source);
  if (names == state_names::all && !apart.empty())
    fail({.rule = violation::state_names_differ}, words_of(apart));
  // Everything is checked, and all values exist, before the first is assigned.
  std::vector<std::pair<const state_entry*, node_ptr>> values;
  for (const state_entry& each : into)
    if (const const_state_entry* const from = source.find(each.name()); from != nullptr)
      values.emplace_back(&each, each.value_of(*from));
  for (auto& [entry, value] : values) entry->replace(std::move(value));
  return apart;
}

}  // namespace detail

}  // namespace shardwise
