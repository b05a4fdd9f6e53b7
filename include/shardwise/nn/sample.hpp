// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/philox.hpp"
#include "shardwise/tensor/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace shardwise::nn {

/// How a token is sampled. At a temperature of 0 it is the one with the highest score, the first of
/// equals. Otherwise it is drawn from the softmax of the scores divided by the temperature, among
/// the `top_k` highest, or among all if `top_k` is 0; and, of these, among the smallest set of most
/// likely tokens whose probabilities sum to at least `top_p`.
struct sampling {
  double temperature = 1;  ///< what scores are divided by
  index_t top_k = 0;       ///< how many of the highest scores count; 0 for all
  double top_p = 1;        ///< the sum of the probabilities that count
  /// The token that ends a row of a text that is generated; negative for none.
  index_t end_token = -1;
};

}  // namespace shardwise::nn

namespace shardwise::detail {

/// Checks the options of a sampling.
constexpr void require_sampling(const nn::sampling& by) {
  using internal::require_within;
  require_within(by.temperature >= 0 && by.temperature <= std::numeric_limits<double>::max(),
                 "a temperature is finite and not negative");
  require_within(by.top_k >= 0, "top_k is the number of scores that count, or 0 for all");
  require_within(by.top_p >= 0 && by.top_p <= 1, "top_p is a probability, from 0 to 1");
}

}  // namespace shardwise::detail

namespace shardwise::nn {

/// Samples an index by its score. Equal keys and scores give equal indices. A score that is NaN
/// counts as minus infinity; if all scores are, the index is any of them. Throws
/// `number_is_out_of_range` for an invalid option.
///
///     auto next = nn::sample(row, {.temperature = 0.7, .top_k = 40}, seed.fold_in(place));
template <class T>
[[nodiscard]] index_t sample(std::span<const T> scores, const sampling& by, random_key seed) {
  detail::require_sampling(by);
  // NaN has no order, and is never chosen where there is a number.
  const auto score = [&](index_t i) {
    const auto given = static_cast<double>(scores[static_cast<std::size_t>(i)]);
    return given == given ? given : -std::numeric_limits<double>::infinity();
  };
  std::vector<index_t> order(scores.size());
  std::iota(order.begin(), order.end(), index_t{0});
  const auto is_before = [&](index_t a, index_t b) {
    return score(a) > score(b) || (score(a) == score(b) && a < b);
  };
  if (order.empty()) return -1;
  if (by.temperature <= 0) return *std::min_element(order.begin(), order.end(), is_before);
  const bool is_nucleus = by.top_p < 1;
  if (by.top_k > 0 && by.top_k < static_cast<index_t>(order.size())) {
    const auto end = order.begin() + by.top_k;
    std::partial_sort(order.begin(), end, order.end(), is_before);
    order.erase(end, order.end());
  } else if (is_nucleus) {
    std::sort(order.begin(), order.end(), is_before);
  }
  double highest = score(order.front());
  for (index_t i : order) highest = std::max(highest, score(i));
  std::vector<double> mass;
  mass.reserve(order.size());
  // Infinite scores have no difference.
  for (index_t i : order)
    mass.push_back(score(i) == highest ? 1 : std::exp((score(i) - highest) / by.temperature));
  double total = std::accumulate(mass.begin(), mass.end(), 0.0);
  if (is_nucleus) {
    const double enough = by.top_p * total;
    std::size_t kept = 0;
    for (total = 0; kept == 0 || (kept < mass.size() && total < enough); ++kept)
      total += mass[kept];
    mass.resize(kept);
  }
  double left = uniform<double>(seed, 0) * total;
  std::size_t chosen = 0;
  // An index of probability 0 is never chosen, whatever the rounding.
  for (std::size_t i = 0; i < mass.size() && left >= 0; ++i) {
    if (mass[i] <= 0) continue;
    chosen = i;
    left -= mass[i];
  }
  return order[chosen];
}

}  // namespace shardwise::nn
