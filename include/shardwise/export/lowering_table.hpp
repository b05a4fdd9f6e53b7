// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/export/lowering.hpp"

namespace shardwise::internal {

/// The counterpart of operations that StableHLO does not have.
inline constexpr std::string_view without_counterpart_words = "custom_call: no counterpart";

/// Returns what the operation of this name becomes, or null.
[[nodiscard]] const lowering_row* find_lowering(text_view name) noexcept;
/// Appends an instruction as its row says, and returns its results.
[[nodiscard]] mlir_values lower_by(const lowering_row& row, lowering& at);

}  // namespace shardwise::internal

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/export/lowering_table_work.hpp"
#endif
