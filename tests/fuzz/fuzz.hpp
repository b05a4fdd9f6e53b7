// SPDX-License-Identifier: BSL-1.0
// Shared by the fuzz targets: a buffer of devices of exactly the stated size, and a check that ends
// the program.
#pragma once

#include <shardwise/notation.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace fuzz {

using namespace shardwise;

/// Room for devices on the heap, so that a sanitizer sees every access beyond it.
class room {
 public:
  explicit room(index_t count)
      : memory_(std::make_unique<index_t[]>(static_cast<std::size_t>(count))),
        buffer(memory_.get(), count) {}

 private:
  std::unique_ptr<index_t[]> memory_;

 public:
  device_buffer buffer;
};

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// A failure is inside the text, or at its end, and has a reason; a success has none.
inline void require_sense(const parse_verdict& verdict, text_view words) {
  require(verdict.position <= words.size());
  require(verdict.ok() == verdict.reason.empty());
}

/// A sink without an end.
struct string_out {
  std::string words;

  string_out& operator<<(text_view more) {
    words.append(more.data(), more.size());
    return *this;
  }
  string_out& operator<<(char c) {
    words += c;
    return *this;
  }
  string_out& operator<<(index_t number) {
    words += std::to_string(number);
    return *this;
  }
};

}  // namespace fuzz
