// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/tensor/out_of_memory.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace shardwise {

SHARDWISE_INLINE out_of_memory::out_of_memory(index_t count, index_t width) noexcept {
  words_ << "out_of_memory: there is no memory for " << count;
  if (width == 1)
    words_ << " bytes";
  else
    words_ << " elements of " << width << " bytes each";
  words_ << "; release other tensors, or make this one smaller";
}
SHARDWISE_INLINE const char* out_of_memory::what() const noexcept { return words_.c_str(); }

namespace internal {

SHARDWISE_INLINE void fail_for_memory(index_t count, index_t width) {
#if defined(__cpp_exceptions)
  throw out_of_memory(count, width);
#else
  std::fputs(out_of_memory(count, width).what(), stderr);
  std::fputs("\n", stderr);
  std::abort();
#endif
}

SHARDWISE_INLINE void with_memory_for(index_t count, index_t width, function_view<void()> request) {
  if (count < 0 || count > PTRDIFF_MAX / width) fail_for_memory(count, width);
#if defined(__cpp_exceptions)
  try {
    request();
  } catch (const std::bad_alloc&) {
    fail_for_memory(count, width);
  }
#else
  request();
#endif
}

}  // namespace internal

}  // namespace shardwise
