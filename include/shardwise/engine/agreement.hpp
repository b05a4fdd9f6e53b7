// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/text.hpp"
#include "shardwise/tensor/node.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace shardwise {

class pool_state;
struct lowered_program;

namespace internal {

/// Records that this owner begins the operation `what`, such as reading it, on a tensor, for what
/// the owners of the mesh compare at their next exchange.
void record(pool_state& home, text_view what, const tensor_desc& tensor, std::uint64_t origin,
            std::uint64_t detail = 0);

/// Returns a hash of bytes, which is equal on all owners if the bytes are.
[[nodiscard]] std::uint64_t hash_of_bytes(std::span<const std::byte> bytes) noexcept;

/// Makes the host data from which a tensor was made part of what identifies it, if the owners of
/// its mesh check what they have alike.
void compare_data(tensor_node& made, const const_any_block& host);

/// What the owners of a mesh agree on when they run a program: its hash and its description.
struct agreement {
  std::uint64_t hash = 0;
  message_text words{};
};
[[nodiscard]] agreement agreement_of(const pool_state& home, const lowered_program& program);

/// Records a run of a program on these inputs; a null pointer is none.
void record(pool_state& home, const agreement& terms, std::span<const tensor_node* const> inputs);

/// Returns what identifies a result of the program that was recorded last.
[[nodiscard]] std::uint64_t origin_of_result(const pool_state& home, std::size_t step) noexcept;

}  // namespace internal
}  // namespace shardwise
