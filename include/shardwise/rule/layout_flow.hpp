// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace shardwise {

/// From which tensors of an operation propagation carries layouts to the others: from its operands
/// (forward), from its result (backward), from all of them, or from none.
enum class layout_flow : std::uint8_t { nowhere, forward, backward, both };

/// Returns the flow that two allow.
[[nodiscard]] constexpr layout_flow common_flow(layout_flow a, layout_flow b) noexcept {
  return static_cast<layout_flow>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

/// What propagation does where the layouts of an operation's tensors conflict. `basic` carries the
/// axes on which all agree, and leaves every conflict to the program. `aggressive` decides for each
/// tensor: axes go wherever the tensor itself can have them, those of larger tensors first.
enum class conflict_strategy : std::uint8_t { basic, aggressive };

}  // namespace shardwise
