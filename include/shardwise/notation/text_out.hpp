// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"

namespace shardwise {

/// An output of text: a `bounded_text<N>`, a stream of the standard library, or any other class
/// that takes words and characters. Numbers are written as words.
template <class Out>
concept TextSink = requires(Out& out, text_view words, char c) {
  out << words;
  out << c;
};

namespace internal {

/// Writes words, characters and numbers to a sink with an explicit type for each, so that every
/// sink treats a literal as words.
template <class Out>
class text_out {
 public:
  explicit constexpr text_out(Out& out) noexcept : out_(out) {}

  constexpr text_out& operator<<(text_view words) {
    out_ << words;
    return *this;
  }
  constexpr text_out& operator<<(char c) {
    out_ << c;
    return *this;
  }
  constexpr text_out& operator<<(index_t number) {
    bounded_text<20> digits;
    digits << number;
    out_ << text_view(digits);
    return *this;
  }

 private:
  Out& out_;
};

}  // namespace internal
}  // namespace shardwise
