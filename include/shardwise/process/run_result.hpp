// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/function_view.hpp"

#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace shardwise::internal {

/// How a piece of work has ended: well, or with an exception.
struct run_result {
  std::exception_ptr thrown{};
  std::string words{};              ///< what the exception says
  std::optional<violation> rule{};  ///< which one is broken, if it is an `error`

  [[nodiscard]] bool is_failure() const noexcept { return thrown != nullptr; }
};

/// Calls `run`, and returns how that ended. Without exceptions a failure ends the program.
[[nodiscard]] run_result result_of_run(function_view<void()> run);

/// Exchanges results, and returns the same on all processes: success, or the first failure, which
/// names its process if there are several. A process that has failed itself keeps its own
/// exception; the others get an `owner_error`. All processes call it.
[[nodiscard]] run_result agreed_result(std::string_view name, const run_result& mine);

/// Throws the exception of a failure; does nothing for success.
void throw_failure(const run_result& how);

/// Calls `run` on all processes; the failure of one is thrown in all of them, after all have ended.
void run_together(std::string_view name, function_view<void()> run);

}  // namespace shardwise::internal

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/process/run_result_work.hpp"
#endif
