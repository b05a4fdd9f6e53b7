// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/function_view.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/text.hpp"

#include <new>

namespace shardwise {

/// A request for memory that the system cannot meet, or that no system could; its words say how
/// much was requested. It is a `std::bad_alloc`, and needs no memory itself.
class out_of_memory : public std::bad_alloc {
 public:
  /// The request was for `count` elements of `width` bytes each.
  explicit out_of_memory(index_t count, index_t width = 1) noexcept;
  [[nodiscard]] const char* what() const noexcept override;

 private:
  message_text words_;
};

namespace internal {

/// Throws `out_of_memory`, or prints its words and aborts if exceptions are disabled.
[[noreturn]] void fail_for_memory(index_t count, index_t width = 1);

/// Calls `request`, which takes memory for `count` elements of `width` bytes from the standard
/// library. Throws `out_of_memory` if there is none.
void with_memory_for(index_t count, index_t width, function_view<void()> request);

}  // namespace internal

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/tensor/out_of_memory_work.hpp"
#endif
