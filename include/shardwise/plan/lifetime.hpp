// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/ledger.hpp"
#include "shardwise/plan/step.hpp"

namespace shardwise {

/// Where the result of a step is stored, and for how long.
struct value_lifetime {
  /// The last step that reads the result; its own number if none does.
  std::int32_t last_use = -1;
  /// The position of the operand whose memory the result reuses; -1 for none.
  std::int32_t reuses = -1;
  /// False for steps that no kept result depends on.
  bool needed = false;
};

/// Returns true for a further result of a call, which exists as soon as the call has run: it does
/// not read the first result.
[[nodiscard]] constexpr bool is_result_of_call(const step_desc* steps, std::int32_t i) noexcept {
  return steps[i].which > 0 && steps[steps[i].operands[0]].kind == step_kind::call;
}

/// Determines the lifetimes of the results of a program's steps, written to `lives[0 .. count)`.
///
/// Steps are in execution order. A fused pass overwrites the first operand that is not needed
/// afterwards and has the same elements, extents and layout, so the epilogue of a product needs no
/// memory of its own. An operation such as `update_slice` may overwrite its first operand if it
/// reads it once, and a `reshape` moves nothing if nobody else reads its operand. An operand is not
/// overwritten by a step that reads it through a view with other positions. Kept results are never
/// overwritten, and inputs only if they are donated.
constexpr void plan_lifetimes(const step_desc* steps, std::int32_t count,
                              value_lifetime* lives) noexcept {
  for (std::int32_t i = 0; i < count; ++i) lives[i] = {i, -1, steps[i].kept};
  for (std::int32_t i = count - 1; i >= 0; --i)
    if (lives[i].needed)
      for (std::int32_t o : steps[i].operands) {
        lives[o].needed = true;
        if (lives[o].last_use < i && !is_result_of_call(steps, i)) lives[o].last_use = i;
      }
  for (std::int32_t i = 0; i < count; ++i) {
    const step_operands& read = steps[i].operands;
    const bool is_pass = steps[i].kind == step_kind::pass;
    if (!lives[i].needed || (!is_pass && !steps[i].reuses_first)) continue;
    bool is_read_twice = false;
    for (int k = 1; k < read.ssize(); ++k) is_read_twice = is_read_twice || read[k] == read[0];
    if (!is_pass && is_read_twice) continue;
    for (int k = 0; k < (is_pass ? read.ssize() : 1) && lives[i].reuses < 0; ++k) {
      const std::int32_t o = read[k];
      // A view with other positions reads elements that may have been overwritten already.
      const std::uint32_t moved = steps[i].viewed & ~steps[i].aligned;
      bool is_moved = false;
      for (int j = 0; j < read.ssize(); ++j)
        is_moved = is_moved || (read[j] == o && (moved >> j & 1U) != 0);
      const bool is_like_result =
          steps[o].result == steps[i].result || (steps[i].aligned >> k & 1U) != 0;
      const bool fits = !is_moved && (!is_pass || is_like_result);
      if (fits && steps[o].is_own() && lives[o].last_use == i) lives[i].reuses = k;
    }
  }
}

/// The highest number of results of a call.
inline constexpr std::int32_t max_call_results = 32;

/// How the caller uses a call: bit masks of the donated operands and of the results that are
/// needed.
struct call_use {
  std::uint32_t donated = 0;
  std::uint32_t wanted = 0;

  friend constexpr bool operator==(const call_use&, const call_use&) = default;
};

/// Returns the use of a call among the steps of a program.
[[nodiscard]] constexpr call_use use_of_call(const step_desc* steps, const value_lifetime* lives,
                                             std::int32_t count, std::int32_t call) noexcept {
  call_use use;
  for (int k = 0; k < steps[call].operands.ssize(); ++k) {
    const std::int32_t o = steps[call].operands[k];
    if (lives[o].last_use == call && steps[o].is_own()) use.donated |= 1U << k;
  }
  if (steps[call].kept || lives[call].last_use > call) use.wanted |= 1U;
  for (std::int32_t i = call + 1; i < count; ++i)
    if (lives[i].needed && steps[i].which > 0 && steps[i].operands[0] == call)
      use.wanted |= 1U << steps[i].which;
  return use;
}

/// Adds up the costs of a program: every needed step once, and the memory that is live while it
/// runs. `called(step, use)` is the ledger of the body that a step calls.
template <class Called>
[[nodiscard]] constexpr cost_ledger summarize(const mesh_desc& mesh, const step_desc* steps,
                                              const value_lifetime* lives, std::int32_t count,
                                              const Called& called) {
  cost_ledger total(mesh);
  index_t live = 0;
  const auto bytes = [&](std::int32_t i) { return bytes_per_device(mesh, steps[i].result); };
  for (std::int32_t i = 0; i < count; ++i)
    if (steps[i].kind == step_kind::input) live += bytes(i);
  total.note_live(live);
  for (std::int32_t i = 0; i < count; ++i) {
    const step_desc& step = steps[i];
    if (!lives[i].needed || step.kind == step_kind::input) continue;
    if (is_result_of_call(steps, i)) continue;
    total.count(step.cost);
    if (step.kind == step_kind::call) {
      const call_use use = use_of_call(steps, lives, count, i);
      index_t held = live;
      for (std::int32_t o : step.operands) held -= bytes(o);
      total.add(called(step, use), held);
      // The first result, which is counted below like that of any step, may not be needed.
      if ((use.wanted & 1U) == 0) live -= bytes(i);
      for (std::int32_t j = i + 1; j < count; ++j)
        if (lives[j].needed && is_result_of_call(steps, j) && steps[j].operands[0] == i)
          live += bytes(j);
    }
    const std::int32_t reused = lives[i].reuses < 0 ? -1 : step.operands[lives[i].reuses];
    if (reused < 0) live += bytes(i);
    if (step.kind != step_kind::call) total.note_live(live);
    for (int k = 0; k < step.operands.ssize(); ++k) {
      const std::int32_t o = step.operands[k];
      bool seen = o == reused;
      for (int j = 0; j < k; ++j) seen = seen || step.operands[j] == o;
      if (!seen && lives[o].last_use == i && steps[o].is_own()) live -= bytes(o);
    }
  }
  return total;
}

/// The same for a program without calls.
[[nodiscard]] constexpr cost_ledger summarize(const mesh_desc& mesh, const step_desc* steps,
                                              const value_lifetime* lives,
                                              std::int32_t count) noexcept {
  return summarize(mesh, steps, lives, count,
                   [&](const step_desc&, const call_use&) { return cost_ledger(mesh); });
}

}  // namespace shardwise
