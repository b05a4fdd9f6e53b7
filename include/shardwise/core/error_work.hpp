// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/error.hpp"

#include <cstddef>

#if defined(SHARDWISE_GIVE_KERNELS)
/// Where kernels of the compiled library report broken rules, as a `diagnosis` and words. Kernels
/// are compiled in namespaces of their own, so programs could not catch the exceptions that they
/// throw.
extern "C" [[noreturn]] void shardwise_kernel_failed(const void* verdict, const char* advice,
                                                     std::size_t size);
#endif

namespace shardwise {

SHARDWISE_INLINE error::error(const diagnosis& verdict, text_view advice) noexcept
    : verdict_(verdict) {
  message_text words = describe(verdict);
  if (!advice.empty()) words << "; " << advice;
  for (const char c : text_view(words))
    if (c == '\0')
      words_ << "\\0";
    else
      words_ << c;
}

SHARDWISE_INLINE void fail(const diagnosis& verdict, text_view advice) {
#if defined(SHARDWISE_GIVE_KERNELS)
  shardwise_kernel_failed(&verdict, advice.data(), advice.size());
#elif defined(__cpp_exceptions)
  throw error(verdict, advice);
#else
  const error failure(verdict, advice);
  detail::current_failure_handler(failure);
  std::abort();
#endif
}

}  // namespace shardwise
