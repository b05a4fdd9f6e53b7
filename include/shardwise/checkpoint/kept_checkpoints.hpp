// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace shardwise {

/// What a manager knows of a checkpoint: the step after which it was saved, and the metric that the
/// program gave.
struct managed_step {
  index_t step = 0;
  std::optional<double> metric{};

  friend bool operator==(const managed_step&, const managed_step&) = default;
};

/// Which metric is the best.
enum class best_metric : std::uint8_t { lowest, highest };

/// Which checkpoints a manager keeps: the last ones, and those with the best metrics. A number that
/// is negative keeps all. Without any number all are kept; with `best` alone the newest is kept
/// besides.
struct kept_checkpoints {
  std::optional<index_t> last{}, best{};
  best_metric by = best_metric::lowest;

  friend bool operator==(const kept_checkpoints&, const kept_checkpoints&) = default;
};

/// Returns those whose metric is a number, the best first; of equal ones the newer is better.
[[nodiscard]] constexpr std::vector<managed_step> ranked(std::vector<managed_step> all,
                                                         best_metric by) {
  // NaN is not equal to itself.
  std::erase_if(
      all, [](const managed_step& each) { return !each.metric || *each.metric != *each.metric; });
  std::sort(all.begin(), all.end(), [&](const managed_step& a, const managed_step& b) {
    if (*a.metric != *b.metric) return (*a.metric < *b.metric) == (by == best_metric::lowest);
    return a.step > b.step;
  });
  return all;
}
/// Returns the step with the best metric.
[[nodiscard]] constexpr std::optional<index_t> best_of(std::vector<managed_step> all,
                                                       best_metric by) {
  all = ranked(std::move(all), by);
  if (all.empty()) return {};
  return all.front().step;
}

/// Returns the steps of the checkpoints that are no longer kept, in ascending order. The newest is
/// always kept. A metric that is NaN, or absent, is never among the best.
[[nodiscard]] constexpr std::vector<index_t> superseded(std::vector<managed_step> all,
                                                        const kept_checkpoints& kept) {
  const auto keeps_all = [](const std::optional<index_t>& most) { return most && *most < 0; };
  if (keeps_all(kept.last) || keeps_all(kept.best) || (!kept.last && !kept.best)) return {};
  std::sort(all.begin(), all.end(),
            [](const managed_step& a, const managed_step& b) { return a.step < b.step; });
  const index_t last = std::max<index_t>(1, kept.last.value_or(1));
  const auto count = static_cast<index_t>(all.size());
  const std::vector<managed_step> old(all.begin(),
                                      all.begin() + std::max<index_t>(0, count - last));
  // All of them compete for the places of the best, also those that are kept as the last.
  all = ranked(std::move(all), kept.by);
  all.resize(
      static_cast<std::size_t>(std::min(static_cast<index_t>(all.size()), kept.best.value_or(0))));
  std::vector<index_t> gone;
  for (const managed_step& each : old)
    if (std::none_of(all.begin(), all.end(),
                     [&](const managed_step& best) { return best.step == each.step; }))
      gone.push_back(each.step);
  return gone;
}

}  // namespace shardwise
