// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/diagnosis.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace shardwise {

/// A rule broken at run time, with its diagnosis and the sentence that the compiler would have
/// printed.
class error : public std::exception {
 public:
  explicit error(const diagnosis& verdict) noexcept : error(verdict, {}) {}
  /// Adds words after the sentence, such as the operands' layouts or the call that fixes the error.
  /// A zero in them is shown as `\0`, since `what` ends at one.
  error(const diagnosis& verdict, text_view advice) noexcept;

  [[nodiscard]] const char* what() const noexcept override { return words_.c_str(); }
  [[nodiscard]] const diagnosis& verdict() const noexcept { return verdict_; }
  [[nodiscard]] violation code() const noexcept { return verdict_.rule; }

 private:
  diagnosis verdict_;
  message_text words_;
};

/// The function that handles a broken rule where exceptions are disabled; it must not return.
using failure_handler = void (*)(const error&);

namespace detail {
inline void print_and_abort(const error& failure) {
  std::fputs(failure.what(), stderr);
  std::fputs("\n", stderr);
  std::abort();
}
inline failure_handler current_failure_handler = print_and_abort;
}  // namespace detail

/// Sets the failure handler for programs built with `-fno-exceptions` and returns the previous one.
/// The default prints the sentence to the standard error stream and aborts. Set it before starting
/// threads.
inline failure_handler set_failure_handler(failure_handler handler) noexcept {
  return std::exchange(detail::current_failure_handler, handler);
}

/// Reports a broken rule: throws `error`, or calls the failure handler and aborts.
[[noreturn]] void fail(const diagnosis& verdict, text_view advice = {});

/// Reports the diagnosis if a rule is broken; every run-time entry point checks its arguments this
/// way.
///
/// In a constant expression a broken rule stops the evaluation here.
constexpr void require(const diagnosis& verdict, text_view advice = {}) {
  if (!verdict.ok()) fail(verdict, advice);
}

namespace internal {

/// Fails with `number_is_out_of_range` and the range as `words`, unless a number is within it. The
/// condition is false for NaN.
constexpr void require_within(bool condition, text_view words) {
  if (!condition) fail({.rule = violation::number_is_out_of_range}, words);
}

/// Fails with a rule of files if a path contains a zero: the system would take what is before it
/// for the path, and read or replace another file.
constexpr void require_whole_path(violation rule, text_view path) {
  for (const char c : path) {
    if (c != '\0') continue;
    message_text words(path);
    fail({.rule = rule}, words << ": a path ends at its first zero, and this one goes on after it");
  }
}

}  // namespace internal

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/core/error_work.hpp"
#endif
