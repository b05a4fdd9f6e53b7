// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <cstdint>

namespace shardwise {

class machine;
struct lowered_program;

namespace detail {

/// Agrees with all owners on an operation on one tensor, such as reading it: its hash and its
/// description.
void agree_on(machine& home, text_view what, const tensor_desc& tensor, std::uint64_t detail = 0);

/// Agrees with the other owners of the mesh on a program, if the owners exchange data in it.
void agree_on(machine& home, const lowered_program& program);

}  // namespace detail
}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/agreement_work.hpp"
#endif
