// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstdint>
#include <memory>

namespace shardwise::internal {

/// A custom gradient of nodes: the gradients recorded for the cotangents of the results, before the
/// node numbered `sequence`.
struct custom_gradient_of_nodes {
  std::uint64_t sequence = 0;
  growable<node_ptr> results, cotangents, arguments, gradients;
};

/// The custom gradients encountered while a function is recorded, in the order of their functions.
using custom_gradients = growable<custom_gradient_of_nodes>;

/// The lists of this thread's recordings; expired ones have ended.
[[nodiscard]] inline growable<std::weak_ptr<custom_gradients>>& recordings_of_thread() {
  static thread_local growable<std::weak_ptr<custom_gradients>> open;
  return open;
}
/// Returns the list of a new recording.
[[nodiscard]] inline std::shared_ptr<custom_gradients> begin_custom_gradients() {
  auto made = std::make_shared<custom_gradients>();
  growable<std::weak_ptr<custom_gradients>>& open = recordings_of_thread();
  while (!open.empty() && open.back().expired()) open.pop_back();
  open.push_back(made);
  return made;
}
/// Returns the lists of recordings that have not ended.
[[nodiscard]] inline growable<std::shared_ptr<custom_gradients>> open_recordings() {
  growable<std::shared_ptr<custom_gradients>> open;
  for (const auto& each : recordings_of_thread())
    if (auto held = each.lock()) open.push_back(std::move(held));
  recordings_of_thread().assign(open.begin(), open.end());
  return open;
}

}  // namespace shardwise::internal
