// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/data/epoch_plan.hpp"

#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <system_error>

namespace shardwise {

namespace detail {

/// Calls `f(name, number)` for each number of a state, which it may change.
template <class State, class F>
void for_each_number(State& state, const F& f) {
  f("loader.epoch", state.epoch);
  f("loader.batches", state.batches);
  f("loader.samples", state.plan.samples);
  f("loader.batch", state.plan.batch);
}

template <class Number>
void read_number(const std::map<std::string, std::string>& from, const std::string& name,
                 Number& to) {
  const auto found = from.find(name);
  const std::string words = found == from.end() ? std::string() : found->second;
  const char* const end = words.data() + words.size();
  const auto [read_to, problem] = std::from_chars(words.data(), end, to);
  if (problem != std::errc() || read_to != end)
    fail({.rule = violation::text_is_malformed},
         "the metadata has " + (found == from.end()
                                    ? "no '" + name + "'"
                                    : "'" + words + "' as '" + name + "', not a number in range"));
}

}  // namespace detail

/// Returns the state of a loader as metadata of a file of tensors.
///
///     save_safetensors("state.safetensors", model, to_metadata(loader.state()));
[[nodiscard]] inline std::map<std::string, std::string> to_metadata(const loader_state& state) {
  std::map<std::string, std::string> to;
  detail::for_each_number(
      state, [&](const char* name, const auto& number) { to[name] = std::to_string(number); });
  to["loader.last"] = std::to_string(static_cast<unsigned>(state.plan.last));
  if (state.plan.key) to["loader.key"] = std::to_string(state.plan.key->value);
  return to;
}

/// Returns the state of a loader that `to_metadata` has put among the metadata of a file. Throws
/// `text_is_malformed` if it is not there.
///
///     loader.resume(loader_state_of(safetensors_file("state.safetensors").header().metadata));
[[nodiscard]] inline loader_state loader_state_of(
    const std::map<std::string, std::string>& metadata) {
  loader_state state;
  detail::for_each_number(
      state, [&](const char* name, auto& number) { detail::read_number(metadata, name, number); });
  unsigned last = 0;
  detail::read_number(metadata, "loader.last", last);
  if (last > static_cast<unsigned>(remaining_samples::padded))
    fail({.rule = violation::text_is_malformed}, "the metadata has no such 'loader.last'");
  state.plan.last = static_cast<remaining_samples>(last);
  if (metadata.count("loader.key") != 0) {
    state.plan.key.emplace();
    detail::read_number(metadata, "loader.key", state.plan.key->value);
  }
  return state;
}

}  // namespace shardwise
