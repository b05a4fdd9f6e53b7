// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

namespace shardwise {

/// How values are reduced to one, over a dimension or over the devices along a pending axis.
enum class reduction : unsigned char { sum, product, max, min };

/// The name of a reduction in the notation of the library: `{partial sum: model}`.
[[nodiscard]] constexpr text_view to_text(reduction kind) noexcept {
  constexpr text_view words[] = {"sum", "product", "max", "min"};
  return words[static_cast<unsigned>(kind)];
}

/// The number of reductions.
inline constexpr int reduction_count = 4;

}  // namespace shardwise
