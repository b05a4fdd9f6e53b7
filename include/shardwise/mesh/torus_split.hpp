// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/torus_assignment.hpp"

namespace shardwise {

/// Returns the prime factors of a positive number in ascending order, with multiplicity.
///
///     prime_factors(360)                                    // 2, 2, 2, 3, 3, 5
[[nodiscard]] constexpr inplace_vector<index_t, 62> prime_factors(index_t number) noexcept {
  inplace_vector<index_t, 62> factors;
  for (index_t p = 2; p <= number / p; ++p)
    for (; number % p == 0; number /= p) factors.push_back(p);
  if (number > 1) factors.push_back(number);
  return factors;
}

/// The part of each physical axis that one logical axis takes.
using axis_factors = inplace_vector<index_t, max_physical_axes>;

namespace detail {

/// Extends `factors` by one entry for each further axis, and visits those whose product is `size`.
template <class Visit>
constexpr void visit_factors(const physical_shape& free, index_t size, axis_factors& factors,
                             Visit& visit) {
  if (factors.size() == free.size()) {
    if (size == 1) visit(static_cast<const axis_factors&>(factors));
    return;
  }
  index_t common = free[factors.size()];
  for (index_t rest = size; rest != 0;) {
    const index_t next = common % rest;
    common = rest;
    rest = next;
  }
  const auto take = [&](index_t part) {
    factors.push_back(part);
    visit_factors(free, size / part, factors, visit);
    factors.pop_back();
  };
  // Divisors come in pairs around the root: the larger descend as the smaller ascend.
  index_t small = 1;
  for (; small <= common / small; ++small)
    if (common % small == 0) take(common / small);
  while (--small > 0)
    if (common % small == 0 && small != common / small) take(small);
}

/// Returns the product of the factors whose axis passes a test.
template <class Test>
[[nodiscard]] constexpr index_t product_where(const axis_factors& factors, Test test) noexcept {
  index_t product = 1;
  for (int p = 0; p < factors.ssize(); ++p)
    if (test(p)) product *= factors[p];
  return product;
}

}  // namespace detail

/// Calls `visit` for every way to take `size` positions from physical axes of which `used`
/// positions are taken already. The part taken of an axis divides its free positions. Ways that
/// take more of earlier axes come first.
template <class Visit>
constexpr void for_each_feasible(const physical_shape& machine, const axis_factors& used,
                                 index_t size, Visit visit) {
  physical_shape free;
  for (int p = 0; p < machine.ssize(); ++p) free.push_back(machine[p] / used[p]);
  axis_factors factors;
  detail::visit_factors(free, size, factors, visit);
}

/// The preference where a logical axis must share physical axes.
enum class sharing : unsigned char {
  /// Prefer axes that are already shared: the behaviour of JAX, and the default so that device
  /// orders match it.
  taken_axes_first,
  /// Prefer axes that are not shared yet, which keep their bandwidth: the documented intent of JAX.
  free_axes_first,
};

/// Returns true if the first way is better than the second. Compares in turn: the part made of
/// whole axes, the number of whole axes, the preference for shared axes, and the use of earlier
/// axes.
[[nodiscard]] constexpr bool is_better(const axis_factors& first, const axis_factors& second,
                                       const physical_shape& machine, const axis_factors& used,
                                       sharing preference) noexcept {
  const auto whole = [&](const axis_factors& way) {
    return detail::product_where(way, [&](int p) { return way[p] == machine[p]; });
  };
  const auto whole_axes = [&](const axis_factors& way) {
    int count = 0;
    for (int p = 0; p < way.ssize(); ++p) count += way[p] == machine[p] && way[p] > 1 ? 1 : 0;
    return count;
  };
  const auto shared = [&](const axis_factors& way) {
    return detail::product_where(way, [&](int p) { return used[p] > 1; });
  };
  if (whole(first) != whole(second)) return whole(first) > whole(second);
  if (whole_axes(first) != whole_axes(second)) return whole_axes(first) > whole_axes(second);
  if (shared(first) != shared(second))
    return (shared(first) > shared(second)) == (preference == sharing::taken_axes_first);
  for (int p = 0; p < first.ssize(); ++p)
    if (first[p] != second[p]) return first[p] > second[p];
  return false;
}

/// Assigns parts of physical axes to logical axes, so that every mesh with the right number of
/// devices has an assignment. Logical axes are processed from last to first, each taking its best
/// way.
///
///     assign_split_axes({4, 4, 8}, {2, 2, 8, 4})            // y is shared by the first two
[[nodiscard]] constexpr assignment_answer assign_split_axes(
    const physical_shape& machine, const mesh_shape& logical, const physical_axes& order = {},
    sharing preference = sharing::taken_axes_first) noexcept {
  assignment_answer answer{detail::check_sizes(machine, logical), {machine, logical}};
  if (!answer.verdict.ok()) return answer;
  torus_assignment& assignment = answer.assignment;
  const auto axis = [&](int i) -> int { return order.empty() ? i : order[i]; };
  physical_shape ordered;
  for (int i = 0; i < machine.ssize(); ++i) ordered.push_back(machine[axis(i)]);
  for (int l = logical.ssize() - 1; l >= 0; --l) {
    axis_factors used, best;
    for (int i = 0; i < machine.ssize(); ++i) used.push_back(assignment.used(axis(i)));
    for_each_feasible(ordered, used, logical[l], [&](const axis_factors& way) {
      if (best.empty() || is_better(way, best, ordered, used, preference)) best = way;
    });
    for (int i = 0; i < best.ssize(); ++i) {
      assignment.factor[axis(i)][l] = best[i];
      if (best[i] > 1) assignment.taken[l].push_back(static_cast<std::uint8_t>(axis(i)));
    }
  }
  return answer;
}

}  // namespace shardwise
