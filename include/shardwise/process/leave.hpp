// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/process/spawn.hpp"

#include <memory>
#include <string_view>

namespace shardwise {

/// Tells the other processes of the program that this one takes part in nothing more, and why:
/// whoever waits for it gets an `owner_error` with these words at once. Does nothing in a program
/// of one process.
///
///     if (!file) { leave("cannot open " + name); return 1; }
inline void leave(std::string_view words) {
  if (const std::shared_ptr<process_group> group = current_group::get()) group->leave(words);
}

}  // namespace shardwise
