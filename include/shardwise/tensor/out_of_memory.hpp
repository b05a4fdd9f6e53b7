// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/text.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace shardwise {

/// A request for memory that the system cannot meet, or that no system could; its words say how
/// much was requested. It is a `std::bad_alloc`, and needs no memory itself.
class out_of_memory : public std::bad_alloc {
 public:
  /// The request was for `count` elements of `width` bytes each.
  explicit out_of_memory(index_t count, index_t width = 1) noexcept {
    words_ << "out_of_memory: there is no memory for " << count;
    if (width == 1)
      words_ << " bytes";
    else
      words_ << " elements of " << width << " bytes each";
    words_ << "; release other tensors, or make this one smaller";
  }
  [[nodiscard]] const char* what() const noexcept override { return words_.c_str(); }

 private:
  bounded_text<160> words_;
};

namespace internal {

/// Throws `out_of_memory`, or prints its words and aborts if exceptions are disabled.
[[noreturn]] inline void fail_for_memory(index_t count, index_t width = 1) {
#if defined(__cpp_exceptions)
  throw out_of_memory(count, width);
#else
  std::fputs(out_of_memory(count, width).what(), stderr);
  std::fputs("\n", stderr);
  std::abort();
#endif
}

/// Returns `make()`, which requests memory from the standard library for `count` elements of
/// `width` bytes. Throws `out_of_memory` if there is none.
template <class Make>
[[nodiscard]] auto with_memory_for(index_t count, index_t width, const Make& make) {
  if (count < 0 || count > PTRDIFF_MAX / width) fail_for_memory(count, width);
#if defined(__cpp_exceptions)
  try {
    return make();
  } catch (const std::bad_alloc&) {
    fail_for_memory(count, width);
  }
#else
  return make();
#endif
}

}  // namespace internal

}  // namespace shardwise
