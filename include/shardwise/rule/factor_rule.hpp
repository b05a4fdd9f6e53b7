// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"
#include "shardwise/rule/linearity.hpp"
#include "shardwise/rule/window.hpp"

namespace shardwise {

/// The highest number of operands of an operation, for which every instruction has room.
inline constexpr int max_operands = 8;
/// The highest number of factors of one rule.
inline constexpr int max_factors = 2 * max_rank;

/// How an operation treats one of its factors.
enum class factor_kind : std::uint8_t {
  /// May be split the same way on every tensor that has it, without communication.
  pass_through,
  /// Is summed or otherwise reduced; splitting it leaves the result pending over those axes.
  reduction,
  /// Each device needs the whole of it; a split must be gathered first, by a `reshard`.
  need_replication,
  /// The result has its indices in another order, as in flip, so a split would need the elements of
  /// other devices. The same splits are rejected as above.
  permutation,
  /// Indices of another factor, or of the same one, read windows of it; see `factor_window`. A
  /// split needs halos, unless windows end where parts do. Convolutions, slices and padding have
  /// such factors.
  blocked,
};

/// The factor of each dimension of a tensor, in the order of its dimensions.
using factor_map = inplace_vector<std::uint8_t, max_rank>;
/// The entry of a dimension of size 1. In an operand it is broadcast along the dimension of the
/// result; in a result it is a reduced dimension that was kept.
inline constexpr std::uint8_t repeated = 255;

/// The size of each factor of an operation, by number; `dyn` where not known yet.
using factor_sizes = inplace_vector<index_t, max_factors>;

/// A `blocked` factor, and the factor each of whose indices reads a window of it. If halos are
/// available, both are split the same way.
struct factor_window {
  std::uint8_t source = 0;
  std::uint8_t reader = 0;
  dimension_window reads{};
  /// True if the factor is gathered over permitted axes where a halo does not suffice: if devices
  /// need elements beyond the parts of their neighbours, or if the axes do not divide the size of
  /// the reader and no operand is uneven. So it is for slices and padding, but not for
  /// convolutions.
  bool may_gather = false;

  /// Returns true if a split of the factor into `parts` may remain that of the reader, which is
  /// uneven only on request.
  [[nodiscard]] constexpr bool keeps_split(index_t size, index_t parts,
                                           bool may_be_uneven) const noexcept {
    return !may_gather || may_be_uneven || reads.count(size) % parts == 0;
  }

  friend constexpr bool operator==(const factor_window&, const factor_window&) = default;
};

/// How a composite factor is formed: as a product (row-major, the first factor is major) or as a
/// sum (the indices of one factor after those of the other).
enum class composition : std::uint8_t { product, sum };

/// A factor formed from other factors. A dimension that a reshape splits or merges is a product;
/// the dimension along which tensors are concatenated is a sum.
struct composite_factor {
  std::uint8_t whole = 0;
  composition how = composition::product;
  inplace_vector<std::uint8_t, max_rank> parts{};

  friend constexpr bool operator==(const composite_factor&, const composite_factor&) = default;
};

/// The factor rule of an operation: which dimensions of its operands and its result share an index.
///
/// In the notation `([i,k],[k,j])->([i,j])` letters are factors. The shape check, the legal
/// layouts, the layout of the result and its pending axes all follow from this one value. A
/// dimension of several factors, as in `([(i,j)])->([i,j])`, is a factor of its own, whose parts
/// are in `composites`.
struct factor_rule {
  inplace_vector<factor_map, max_operands> operands{};
  factor_map result{};
  inplace_vector<factor_kind, max_factors> factors{};
  inplace_vector<composite_factor, max_rank> composites{};
  inplace_vector<factor_window, max_rank> windows{};
  /// The sizes of factors that the operation itself determines; empty if its operands determine
  /// all.
  factor_sizes sizes{};
  /// How the operation treats pending operands.
  linearity law = linearity::nonlinear;
  /// How reduction factors are reduced.
  reduction reduce = reduction::sum;

  /// Returns the number of the composite that a factor is, or -1.
  [[nodiscard]] constexpr int composite_of(int factor) const noexcept {
    for (int c = 0; c < composites.ssize(); ++c)
      if (composites[c].whole == factor) return c;
    return -1;
  }
  /// Returns the number of the window that is read of a factor, or -1.
  [[nodiscard]] constexpr int window_of(int factor) const noexcept {
    for (int w = 0; w < windows.ssize(); ++w)
      if (windows[w].source == factor) return w;
    return -1;
  }
  /// True if a dimension of this factor has the indices of another one: it is that factor, contains
  /// it as a part, or is read through windows by it and split the same way.
  [[nodiscard]] constexpr bool has_part(int factor, int part) const noexcept {
    if (factor == part) return true;
    const int c = composite_of(factor);
    if (c >= 0) return composites[c].parts.contains(static_cast<std::uint8_t>(part));
    const int w = window_of(factor);
    return w >= 0 && windows[w].reader == part;
  }
  /// True if the legality of layouts also depends on the sizes of factors.
  [[nodiscard]] constexpr bool depends_on_sizes() const noexcept {
    return !composites.empty() || !windows.empty();
  }
  /// Returns the dimension of a tensor that has the indices of a factor, or -1.
  [[nodiscard]] constexpr int dim_with(const factor_map& map, int factor) const noexcept {
    for (int d = 0; d < map.ssize(); ++d)
      if (map[d] != repeated && has_part(map[d], factor)) return d;
    return -1;
  }
  /// Returns the initial sizes of the factors: those that the operation determines, `dyn` for all
  /// others.
  [[nodiscard]] constexpr factor_sizes given_sizes() const noexcept {
    factor_sizes known = sizes;
    while (known.size() < factors.size()) known.push_back(dyn);
    return known;
  }

  friend constexpr bool operator==(const factor_rule&, const factor_rule&) = default;
};

/// The extents of each operand of an operation.
using operand_extents = inplace_vector<extents_desc, max_operands>;

/// Returns the rule of an elementwise function. Extents are aligned at the last dimension; missing
/// dimensions and dimensions of size 1 are broadcast.
///
///     ([i,j],[j]) -> ([i,j])
[[nodiscard]] constexpr factor_rule elementwise_rule(linearity law,
                                                     const operand_extents& operands) noexcept {
  factor_rule rule;
  rule.law = law;
  int rank = 0;
  for (const extents_desc& extents : operands)
    rank = extents.ssize() > rank ? extents.ssize() : rank;
  for (int d = 0; d < rank; ++d) {
    rule.result.push_back(static_cast<std::uint8_t>(d));
    rule.factors.push_back(factor_kind::pass_through);
  }
  for (const extents_desc& extents : operands) {
    factor_map map;
    for (int d = 0; d < extents.ssize(); ++d) {
      const int factor = rank - extents.ssize() + d;
      bool others_are_one = true;
      for (const extents_desc& other : operands) {
        const int theirs = factor - (rank - other.ssize());
        if (theirs >= 0 && other[theirs] != 1) others_are_one = false;
      }
      map.push_back(extents[d] == 1 && !others_are_one ? repeated
                                                       : static_cast<std::uint8_t>(factor));
    }
    rule.operands.push_back(map);
  }
  return rule;
}

/// Returns the rule of a function of one operand that keeps its dimensions, each with a factor of
/// its own.
///
///     ([i,k]) -> ([i,k])
[[nodiscard]] constexpr factor_rule same_dimensions_rule(linearity law, int rank) noexcept {
  factor_rule rule;
  rule.law = law;
  for (int d = 0; d < rank; ++d) {
    rule.result.push_back(static_cast<std::uint8_t>(d));
    rule.factors.push_back(factor_kind::pass_through);
  }
  rule.operands.push_back(rule.result);
  return rule;
}

/// Returns how a reduction treats pending values: sums of sums and maxima of maxima stay pending.
[[nodiscard]] constexpr linearity law_of(reduction reduce) noexcept {
  constexpr linearity laws[] = {linearity::additive, linearity::product_of, linearity::max_of,
                                linearity::min_of};
  return laws[static_cast<unsigned>(reduce)];
}

/// Returns the rule of a reduction over the dimensions whose bits are set in `reduced`; with `keep`
/// they stay as dimensions of size 1.
///
///     ([i,k]) -> ([i])
[[nodiscard]] constexpr factor_rule reduction_rule(reduction reduce, int rank, unsigned reduced,
                                                   bool keep = false) noexcept {
  factor_rule rule;
  rule.law = law_of(reduce);
  rule.reduce = reduce;
  factor_map map;
  for (int d = 0; d < rank; ++d) {
    const bool kept = (reduced >> d & 1U) == 0;
    map.push_back(static_cast<std::uint8_t>(d));
    rule.factors.push_back(kept ? factor_kind::pass_through : factor_kind::reduction);
    if (kept || keep) rule.result.push_back(kept ? static_cast<std::uint8_t>(d) : repeated);
  }
  rule.operands.push_back(map);
  return rule;
}

}  // namespace shardwise
