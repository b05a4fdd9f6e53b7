// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/text.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <cstdint>

namespace shardwise {

class pool_state;
struct lowered_program;

namespace internal {

/// Checks that all owners begin the operation `what` on the same tensor, such as reading it; throws
/// `owners_differ` otherwise.
void agree_on(pool_state& home, text_view what, const tensor_desc& tensor,
              std::uint64_t detail = 0);

/// What the owners of a mesh agree on before they run a program: its hash and its description.
struct agreement {
  /// True if owners exchange data in the program. Otherwise they need not agree.
  bool is_needed = false;
  std::uint64_t hash = 0;
  message_text words{};
};
[[nodiscard]] agreement agreement_of(const pool_state& home, const lowered_program& program);

/// Agrees with the other owners of the mesh on a program, if necessary.
void agree_on(pool_state& home, const agreement& terms);

}  // namespace internal
}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/agreement_work.hpp"
#endif
