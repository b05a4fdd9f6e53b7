// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/pending_node.hpp"

#include <cstddef>

namespace shardwise::internal {

/// Who is charged for the memory of results: the devices, when a result gets it, or nobody, since
/// it is the same in all runs of a program.
enum class charges : bool { none, devices };

/// Gives a result its memory: that of the operand that it overwrites, or new memory.
inline void bind_result(tensor_node& result, tensor_node* overwritten, charges charged) {
  pool_state& home = *result.home();
  if (overwritten == nullptr) {
    result.get_memory(
        [&](index_t bytes) { return shard_buffer<std::byte>(home.storage(), bytes); });
    if (charged == charges::devices) result.charge(home.memory());
  } else if (charged == charges::devices) {
    result.take_memory_of(*overwritten);
  } else {
    result.view_memory_of(*overwritten);
  }
}

/// Gives a further result of an operation the memory that the operation has written.
inline void bind_written(tensor_node& result, const further_shards& written, int which,
                         charges charged) {
  result.share_memory(written[static_cast<std::size_t>(which) - 1]);
  if (charged == charges::devices) result.charge(result.home()->memory());
}

/// Allocates the memory of the results of an operation after the first, which have its layout.
inline void bind_further(const tensor_node& result, const further_elements& elements,
                         further_shards& to) {
  const shard_table& where = result.where();
  to.resize(elements.size());
  for (std::size_t k = 0; k < elements.size(); ++k) {
    to[k].resize(static_cast<std::size_t>(where.count()));
    for (index_t i = 0; i < where.count(); ++i)
      if (where.is_here(i))
        to[k][static_cast<std::size_t>(i)] = shard_buffer<std::byte>(
            result.home()->storage(), where.size_of_shard(i) * size_of(elements[k]->type));
  }
}

}  // namespace shardwise::internal
