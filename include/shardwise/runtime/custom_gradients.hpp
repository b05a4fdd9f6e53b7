// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/tensor/node.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace shardwise::detail {

/// A custom gradient of nodes: what was recorded for the cotangents of the results, before what has
/// `sequence` was written.
struct custom_gradient_of_nodes {
  std::uint64_t sequence = 0;
  std::vector<node_ptr> results, cotangents, arguments, gradients;
};

/// The custom gradients that are met while a function is recorded, in the order of their functions.
using custom_gradients = std::vector<custom_gradient_of_nodes>;

/// The lists of the recordings that this thread is at; those that are gone have ended.
[[nodiscard]] inline std::vector<std::weak_ptr<custom_gradients>>& recordings_of_thread() {
  static thread_local std::vector<std::weak_ptr<custom_gradients>> open;
  return open;
}
/// The list of a recording that begins.
[[nodiscard]] inline std::shared_ptr<custom_gradients> begin_custom_gradients() {
  auto made = std::make_shared<custom_gradients>();
  recordings_of_thread().push_back(made);
  return made;
}
/// Those that have not ended.
[[nodiscard]] inline std::vector<std::shared_ptr<custom_gradients>> open_recordings() {
  std::vector<std::shared_ptr<custom_gradients>> open;
  for (const auto& each : recordings_of_thread())
    if (auto held = each.lock()) open.push_back(std::move(held));
  recordings_of_thread().assign(open.begin(), open.end());
  return open;
}

}  // namespace shardwise::detail
