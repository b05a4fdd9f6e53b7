// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/topology_verdict.hpp"

namespace shardwise {

/// Which axes of a machine each axis of a logical mesh takes, whole or in part.
///
/// The part that logical axis `l` takes of physical axis `p` is `factor[p][l]`: the products along
/// a row are the machine, those along a column the logical mesh. Of a physical axis that is split,
/// the last logical axis takes the part of neighbours.
struct torus_assignment {
  physical_shape physical{};
  mesh_shape logical{};
  index_t factor[max_physical_axes][max_axes]{};
  /// The physical axes of each logical axis, major to minor; those of size 1 too where they were
  /// taken along.
  physical_axes taken[max_axes]{};

  constexpr torus_assignment() = default;
  /// Nothing is taken yet.
  constexpr torus_assignment(const physical_shape& machine, const mesh_shape& mesh) noexcept
      : physical(machine), logical(mesh) {
    for (auto& row : factor)
      for (index_t& part : row) part = 1;
  }

  /// How many positions of a physical axis are taken.
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

  /// The position along logical axis `l` of the device at these places of the machine.
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

/// An assignment or why there is none.
struct assignment_answer {
  topology_verdict verdict{};
  torus_assignment assignment{};
};

/// In what order physical axes are tried; kinds of machines differ.
struct torus_search {
  /// The order in which a reduction over several physical axes runs, major to minor; empty: as
  /// counted.
  physical_axes order{};
  /// The fourth axis joins the cores of a chip and is the fastest: try it before the others.
  bool cores_first = false;
};

namespace detail {

/// The combinations of `count` of `rank` axes as bit masks, in lexicographic order: axis 0 is the
/// highest bit, so the masks fall. Returns 0 after the last.
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

/// How late a combination is tried among those of its size: by its fastest axis, then by all.
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

/// The first combination of what remains whose product is `size`, more axes first; 0 if none is.
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

/// Checks the sizes of both: positive, few enough to count, and of the same product.
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

/// Gives whole physical axes to logical axes.
///
/// Logical axes are served from last to first, since the last communicates most. Each takes the
/// first combination of free physical axes whose product is its size: combinations of more axes
/// before those of fewer, else in lexicographic order. An axis of size 1 may take a physical axis
/// of size 1; one above 1 that finds nothing ends the search, though another order might have
/// worked.
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

/// Bytes a second for each device of a collective along logical axis `l` of a mesh of this machine.
///
/// Whole physical axes count fully. Of a split axis only a line of the part counts, one way, and
/// parts that are interleaved share its links.
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
