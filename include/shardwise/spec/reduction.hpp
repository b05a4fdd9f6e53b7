// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

namespace shardwise {

/// How values are reduced into one: over a dimension, or over the devices of a pending axis.
enum class reduction : unsigned char { sum, product, max, min };

/// The word for a reduction in the notation: `{partial sum: model}`.
[[nodiscard]] constexpr text_view to_text(reduction kind) noexcept {
  constexpr text_view words[] = {"sum", "product", "max", "min"};
  return words[static_cast<unsigned>(kind)];
}

/// The number of reductions.
inline constexpr int reduction_count = 4;

}  // namespace shardwise
