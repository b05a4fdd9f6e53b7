// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/function_view.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/layout/index_range.hpp"

#include <memory>

namespace shardwise {

class memory_arena;
class owner_link;
class pool_state;
struct lowered_program;

namespace internal {

struct agreement;
class collective_pieces;
class moving_step;
class shards_of_all;
struct message_memory;

/// What a machine does with the other owners of its mesh. Only a pool that has some refers to these
/// functions: a program of headers alone that makes no such pool does not contain them.
struct owner_work {
  /// Exchanges the pieces of a collective before its shards are computed; `reduce` computes some
  /// elements of one.
  void (*exchange)(collective_pieces& of, pool_state& home, message_memory& memory,
                   const function_view<void(index_t, const index_range&)>& reduce);
  /// Ends a collective after its shards are computed, or have failed.
  void (*finish)(pool_state& home);
  void (*give_up)(pool_state& home) noexcept;
  /// Gets the shards of a tensor that other owners have.
  void (*collect)(shards_of_all& to, pool_state& home);
  /// Describes a program to the others.
  void (*describe)(agreement& to, const pool_state& home, const lowered_program& program);
  /// Returns this process's part of the cores of its machine, which it shares with some of them,
  /// and an arena, of memory that they read if there is any.
  index_t (*cores)(const owner_link& link);
  std::shared_ptr<memory_arena> (*arena)(const owner_link& link);
  /// Exchanges what a step moves, before its shards are computed.
  void (*exchange_step)(moving_step& of, pool_state& home, message_memory& memory);
};

void exchange_pieces(collective_pieces& of, pool_state& home, message_memory& memory,
                     const function_view<void(index_t, const index_range&)>& reduce);
void finish_pieces(pool_state& home);
void give_up_pieces(pool_state& home) noexcept;
void collect_shards(shards_of_all& to, pool_state& home);
void describe_run(agreement& to, const pool_state& home, const lowered_program& program);
[[nodiscard]] index_t cores_of(const owner_link& link);
[[nodiscard]] std::shared_ptr<memory_arena> shared_arena(const owner_link& link);
void exchange_step(moving_step& of, pool_state& home, message_memory& memory);

}  // namespace internal
}  // namespace shardwise
