// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/topology_verdict.hpp"

namespace shardwise {

/// The physical axes that each axis of a logical mesh uses, in whole or in part.
///
/// `factor[p][l]` is the part of physical axis `p` that logical axis `l` uses: the product of a row
/// is the size of the physical axis, that of a column the size of the logical axis. Where a
/// physical axis is split, adjacent devices belong to the last logical axis that shares it.
struct torus_assignment {
  physical_shape physical{};
  mesh_shape logical{};
  index_t factor[max_physical_axes][max_axes]{};
  /// The physical axes of each logical axis, major to minor, including axes of size 1 that were
  /// assigned to it.
  physical_axes taken[max_axes]{};

  constexpr torus_assignment() = default;
  /// Starts with nothing assigned.
  constexpr torus_assignment(const physical_shape& machine, const mesh_shape& mesh) noexcept
      : physical(machine), logical(mesh) {
    for (auto& row : factor)
      for (index_t& part : row) part = 1;
  }

  /// Returns the number of positions of a physical axis that are assigned.
  [[nodiscard]] constexpr index_t used(int p) const noexcept {
    index_t product = 1;
    for (int l = 0; l < logical.ssize(); ++l) product *= factor[p][l];
    return product;
  }

  /// Returns true if logical axes share a physical axis.
  [[nodiscard]] constexpr bool splits() const noexcept {
    for (int p = 0; p < physical.ssize(); ++p)
      for (int l = 0; l < logical.ssize(); ++l)
        if (factor[p][l] != 1 && factor[p][l] != physical[p]) return true;
    return false;
  }

  /// Returns the position along logical axis `l` of the device at these physical coordinates.
  template <class Place>
  [[nodiscard]] constexpr index_t position(int l, const Place& place) const noexcept {
    index_t number = 0;
    for (std::uint8_t p : taken[l]) {
      index_t inner = 1;
      for (int minor = l + 1; minor < logical.ssize(); ++minor) inner *= factor[p][minor];
      number = number * factor[p][l] + place[p] / inner % factor[p][l];
    }
    return number;
  }

  friend constexpr bool operator==(const torus_assignment&, const torus_assignment&) = default;
};

/// An assignment, or the reason why there is none.
struct assignment_answer {
  topology_verdict verdict{};
  torus_assignment assignment{};
};

/// The order in which physical axes are tried; kinds of machines differ.
struct torus_search {
  /// The order of a reduction over several physical axes, major to minor; empty for their numerical
  /// order.
  physical_axes order{};
  /// The fourth axis connects the cores of a chip and is the fastest, so try it before the others.
  bool cores_first = false;
};

namespace detail {

/// Enumerates the combinations of `count` of `rank` axes as bit masks, in lexicographic order. Axis
/// 0 is the highest bit, so the masks descend. Returns 0 after the last.
[[nodiscard]] constexpr unsigned next_combination(unsigned mask, int rank, int count) noexcept {
  for (unsigned next = mask; next-- > 1U;) {
    int bits = 0;
    for (int b = 0; b < rank; ++b) bits += static_cast<int>(next >> b & 1U);
    if (bits == count) return next;
  }
  return 0;
}

[[nodiscard]] constexpr bool has_axis(unsigned mask, int rank, int axis) noexcept {
  return (mask >> (rank - 1 - axis) & 1U) != 0;
}

/// Returns the rank of a combination among those of its size: by its fastest axis, then by all.
[[nodiscard]] constexpr int lateness(unsigned mask, int rank, bool cores_first) noexcept {
  if (!cores_first || rank < 4) return 0;
  int best = rank, sum = 0;
  for (int a = 0; a < rank; ++a) {
    if (!has_axis(mask, rank, a)) continue;
    const int late = (a + 1) % rank;
    best = late < best ? late : best;
    sum += late;
  }
  return best * 16 + sum;
}

/// Returns the first combination of the free axes whose product is `size`, more axes first; 0 if
/// none.
[[nodiscard]] constexpr unsigned first_match(const physical_shape& remaining, index_t size,
                                             bool cores_first) noexcept {
  const int rank = remaining.ssize();
  for (int count = rank; count > 0; --count) {
    unsigned best = 0;
    for (unsigned mask = next_combination(1U << rank, rank, count); mask != 0;
         mask = next_combination(mask, rank, count)) {
      index_t product = 1;
      for (int a = 0; a < rank; ++a)
        if (has_axis(mask, rank, a)) product *= remaining[a];
      if (product == size &&
          (best == 0 || lateness(mask, rank, cores_first) < lateness(best, rank, cores_first)))
        best = mask;
    }
    if (best != 0) return best;
  }
  return 0;
}

/// Checks the sizes of both: positive, within the limit, and with equal products.
[[nodiscard]] constexpr topology_verdict check_sizes(const physical_shape& machine,
                                                     const mesh_shape& logical) noexcept {
  constexpr index_t most = index_t{1} << 30;
  const index_t have = bounded_product(machine, most);
  const index_t want = bounded_product(logical, most);
  if (have < 0 || want < 0)
    return {.rule = topology_rule::shape_is_not_positive, .shape = logical, .physical = machine};
  if (have != want)
    return {.rule = topology_rule::device_count_differs,
            .have = have,
            .want = want,
            .shape = logical,
            .physical = machine};
  return {};
}

}  // namespace detail

/// Assigns whole physical axes to logical axes.
///
/// Logical axes are processed from last to first, since the last communicates most. Each takes the
/// first combination of free physical axes whose product is its size: combinations of more axes
/// first, then in lexicographic order. An axis of size 1 may take a physical axis of size 1. The
/// search is greedy: it fails if an axis above 1 finds no combination, even if another order would
/// have succeeded.
///
///     assign_whole_axes({4, 4, 4}, {1, 16, 4})              // {}, {1, 2}, {0}
[[nodiscard]] constexpr assignment_answer assign_whole_axes(
    const physical_shape& machine, const mesh_shape& logical,
    const torus_search& search = {}) noexcept {
  assignment_answer answer{detail::check_sizes(machine, logical), {machine, logical}};
  if (!answer.verdict.ok()) return answer;
  const int rank = machine.ssize();
  physical_shape remaining;
  for (int i = 0; i < rank; ++i)
    remaining.push_back(machine[search.order.empty() ? i : search.order[i]]);
  for (int l = logical.ssize() - 1; l >= 0; --l) {
    const unsigned match = detail::first_match(remaining, logical[l], search.cores_first);
    if (match == 0 && logical[l] > 1) {
      answer.verdict = {.rule = topology_rule::axis_has_no_match,
                        .axis = l,
                        .want = logical[l],
                        .shape = logical,
                        .physical = remaining};
      return answer;
    }
    for (int i = 0; i < rank; ++i) {
      if (!detail::has_axis(match, rank, i)) continue;
      const int p = search.order.empty() ? i : search.order[i];
      answer.assignment.taken[l].push_back(static_cast<std::uint8_t>(p));
      answer.assignment.factor[p][l] = machine[p];
      remaining[i] = 0;
    }
  }
  return answer;
}

/// Returns the bytes per second of each device in a collective along logical axis `l` of this
/// machine.
///
/// Whole physical axes count fully. A part of a split axis counts as a line in one direction, and
/// interleaved parts share the links of the axis.
[[nodiscard]] constexpr double bytes_per_second(const topology& machine,
                                                const torus_assignment& assignment,
                                                int l) noexcept {
  double sum = 0;
  for (std::uint8_t p : assignment.taken[l]) {
    if (p >= machine.axes.ssize() || assignment.factor[p][l] == 1) continue;
    const topology_axis& axis = machine.axes[p];
    index_t inner = 1;
    for (int minor = l + 1; minor < assignment.logical.ssize(); ++minor)
      inner *= assignment.factor[p][minor];
    if (assignment.factor[p][l] == axis.size)
      sum += axis.bytes_per_second();
    else
      sum += axis.way.one_way() / static_cast<double>(axis.joined == fabric::torus ? inner : 1);
  }
  return sum;
}

/// Writes the physical axes of each logical axis: `[[], [1, 2], [0]]`.
template <std::size_t N>
constexpr bounded_text<N>& operator<<(bounded_text<N>& out,
                                      const torus_assignment& assignment) noexcept {
  out << '[';
  for (int l = 0; l < assignment.logical.ssize(); ++l) {
    out << (l > 0 ? ", [" : "[");
    for (int i = 0; i < assignment.taken[l].ssize(); ++i) {
      if (i > 0) out << ", ";
      out << static_cast<int>(assignment.taken[l][i]);
    }
    out << ']';
  }
  return out << ']';
}

}  // namespace shardwise
