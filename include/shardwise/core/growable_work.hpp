// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace shardwise::detail {

SHARDWISE_INLINE void move_to_larger(element_memory& memory, std::size_t room, std::size_t bytes) {
  constexpr std::size_t most = static_cast<std::size_t>(-1);
  // More than there is fails like any other allocation.
  void* const to = ::operator new(room > most / bytes ? most : room * bytes);
  if (memory.size > 0) std::memcpy(to, memory.data, memory.size * bytes);
  ::operator delete(memory.data);
  memory.data = to;
  memory.room = room;
}

SHARDWISE_INLINE void element_is_missing() noexcept {
  std::fputs("shardwise: the element of a sequence that is used is not there\n", stderr);
  std::abort();
}

}  // namespace shardwise::detail
