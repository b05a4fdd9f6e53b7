// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <shardwise/core/error.hpp>

/// Returns the rule that a call breaks at run time, or `violation::nothing`.
///
///     CHECK(refusal([&] { return cumsum<2>(x); }) == violation::dimension_is_out_of_range);
template <class F>
shardwise::violation refusal(const F& call) {
  try {
    (void)call();
  } catch (const shardwise::error& refused) {
    return refused.code();
  }
  return shardwise::violation::nothing;
}
