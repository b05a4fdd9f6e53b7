// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/process/host_values.hpp"
#include "shardwise/process/owner_share.hpp"
#include "shardwise/process/run_result.hpp"

#include <vector>

namespace shardwise::internal {

SHARDWISE_INLINE run_result result_of_run(function_view<void()> run) {
  run_result how;
#if defined(__cpp_exceptions)
  try {
    run();
  } catch (const error& broken) {
    how = {std::current_exception(), broken.what(), broken.code()};
  } catch (const std::exception& thrown) {
    how = {std::current_exception(), thrown.what(), {}};
  } catch (...) {
    how = {std::current_exception(), "an exception that is not a std::exception", {}};
  }
#else
  run();
#endif
  return how;
}

SHARDWISE_INLINE run_result agreed_result(std::string_view name, const run_result& mine) {
  if (process_count() == 1) return mine;
  // `+`, or `-` with the rule, a space and the words.
  std::string payload = "+";
  if (mine.is_failure()) {
    payload = "-";
    if (mine.rule) payload += std::to_string(static_cast<int>(*mine.rule));
    payload += ' ';
    payload += mine.words;
  }
  const std::vector<std::string> all = rendezvous(name, payload);
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (all[p].front() != '-') continue;
    const std::size_t space = all[p].find(' ');
    const owner_error failure(static_cast<index_t>(p), all[p].substr(space + 1));
    run_result failed{mine.thrown, failure.what(), {}};
    if (space > 1) failed.rule = static_cast<violation>(std::stoi(all[p].substr(1, space - 1)));
    if (failed.thrown == nullptr) failed.thrown = std::make_exception_ptr(failure);
    return failed;
  }
  return {};
}

SHARDWISE_INLINE void throw_failure(const run_result& how) {
#if defined(__cpp_exceptions)
  if (how.is_failure()) std::rethrow_exception(how.thrown);
#else
  (void)how;
#endif
}

SHARDWISE_INLINE void run_together(std::string_view name, function_view<void()> run) {
  throw_failure(agreed_result(name, result_of_run(run)));
}

}  // namespace shardwise::internal
