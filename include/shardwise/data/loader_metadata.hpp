// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/data/epoch_plan.hpp"
#include "shardwise/io/metadata.hpp"

#include <map>
#include <string>
#include <type_traits>

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

}  // namespace detail

/// Returns the state of a loader as metadata of a file of tensors.
///
///     save_safetensors("state.safetensors", model, to_metadata(loader.state()));
[[nodiscard]] inline std::map<std::string, std::string> to_metadata(const loader_state& state) {
  std::map<std::string, std::string> to;
  detail::for_each_number(
      state, [&](const char* name, const auto& number) { to[name] = metadata_text(number); });
  to["loader.last"] = metadata_text(static_cast<unsigned>(state.plan.last));
  if (state.plan.key) to["loader.key"] = metadata_text(*state.plan.key);
  return to;
}

/// Returns the state of a loader that `to_metadata` has put among the metadata of a file. Throws
/// `text_is_malformed` if it is not there.
///
///     loader.resume(loader_state_of(safetensors_file("state.safetensors").header().metadata));
[[nodiscard]] inline loader_state loader_state_of(
    const std::map<std::string, std::string>& metadata) {
  loader_state state;
  detail::for_each_number(state, [&](const char* name, auto& number) {
    number = metadata_number<std::remove_cvref_t<decltype(number)>>(metadata, name);
  });
  const auto last = metadata_number<unsigned>(metadata, "loader.last");
  if (last > static_cast<unsigned>(remaining_samples::padded))
    fail({.rule = violation::text_is_malformed}, "the metadata has no such 'loader.last'");
  state.plan.last = static_cast<remaining_samples>(last);
  if (metadata.count("loader.key") != 0)
    state.plan.key = metadata_number<random_key>(metadata, "loader.key");
  return state;
}

}  // namespace shardwise
