// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"
#include "shardwise/rule/linearity.hpp"
#include "shardwise/rule/window.hpp"

namespace shardwise {

/// The highest number of operands of one operation: what every instruction has room for.
inline constexpr int max_operands = 8;
/// The highest number of factors of one rule.
inline constexpr int max_factors = 2 * max_rank;

/// What happens along one factor of an operation.
enum class factor_kind : std::uint8_t {
  /// May be split alike on every tensor that has it, without communication.
  pass_through,
  /// Summed or otherwise reduced: splitting it leaves the result pending over those axes.
  reduction,
  /// Each device needs the whole of it: what splits it is gathered first, by a `reshard`.
  need_replication,
  /// The result has its indices in another order, so that a split of it would need the elements of
  /// other devices: flip. Judged like the one above.
  permutation,
  /// What indices of another factor, or of the same, read a window of: see `factor_window`. A split
  /// needs neighbours that other devices have, unless windows end where parts do: convolution.
  blocked,
};

/// The factor of each dimension of a tensor, in the order of its dimensions.
using factor_map = inplace_vector<std::uint8_t, max_rank>;
/// The entry of a dimension of size 1: in an operand it is broadcast along the result's dimension;
/// in a result it is a reduced dimension that was kept.
inline constexpr std::uint8_t repeated = 255;

/// The size of each factor of an operation, by number; `dyn` where not known yet.
using factor_sizes = inplace_vector<index_t, max_factors>;

/// A `blocked` factor and the one whose indices each read a window of it. Where neighbours are at
/// hand both are split alike.
struct factor_window {
  std::uint8_t source = 0;
  std::uint8_t reader = 0;
  window reads{};

  friend constexpr bool operator==(const factor_window&, const factor_window&) = default;
};

/// How a composite factor is made of others: as a product (row-major, the first factor is major) or
/// as a sum (the indices of one after those of the other).
enum class composition : std::uint8_t { product, sum };

/// A factor that is made of others. A dimension that a reshape cuts up or merges is a product; the
/// dimension along which tensors are joined is a sum.
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
/// dimension of several factors, `([(i,j)])->([i,j])`, is a factor of its own, and `composites` has
/// what it is made of.
struct factor_rule {
  inplace_vector<factor_map, max_operands> operands{};
  factor_map result{};
  inplace_vector<factor_kind, max_factors> factors{};
  inplace_vector<composite_factor, max_rank> composites{};
  inplace_vector<factor_window, max_rank> windows{};
  /// The sizes that the operation itself gives to factors; empty where its operands say them all.
  factor_sizes sizes{};
  /// How the operation treats operands that are pending.
  linearity law = linearity::nonlinear;
  /// How reduction factors are reduced.
  reduction fold = reduction::sum;

  /// The composite that a factor is, or -1.
  [[nodiscard]] constexpr int composite_of(int factor) const noexcept {
    for (int c = 0; c < composites.ssize(); ++c)
      if (composites[c].whole == factor) return c;
    return -1;
  }
  /// The window that is read of a factor, or -1.
  [[nodiscard]] constexpr int window_of(int factor) const noexcept {
    for (int w = 0; w < windows.ssize(); ++w)
      if (windows[w].source == factor) return w;
    return -1;
  }
  /// True if a dimension of this factor has the indices of another: it is that factor, or is made
  /// of it, or is split as that is, which reads windows of it.
  [[nodiscard]] constexpr bool has_part(int factor, int part) const noexcept {
    if (factor == part) return true;
    const int c = composite_of(factor);
    if (c >= 0) return composites[c].parts.contains(static_cast<std::uint8_t>(part));
    const int w = window_of(factor);
    return w >= 0 && windows[w].reader == part;
  }
  /// True if layouts are judged by the sizes of factors too.
  [[nodiscard]] constexpr bool depends_on_sizes() const noexcept {
    return !composites.empty() || !windows.empty();
  }
  /// The dimension of a tensor that has the indices of a factor, or -1.
  [[nodiscard]] constexpr int dim_with(const factor_map& map, int factor) const noexcept {
    for (int d = 0; d < map.ssize(); ++d)
      if (map[d] != repeated && has_part(map[d], factor)) return d;
    return -1;
  }
  /// The initial sizes of the factors: those that the operation determines, `dyn` for all others.
  [[nodiscard]] constexpr factor_sizes given_sizes() const noexcept {
    factor_sizes known = sizes;
    while (known.size() < factors.size()) known.push_back(dyn);
    return known;
  }

  friend constexpr bool operator==(const factor_rule&, const factor_rule&) = default;
};

/// The extents of each operand of one operation.
using operand_extents = inplace_vector<extents_desc, max_operands>;

/// The rule of a function applied element by element. Extents meet from the last dimension
/// backwards; missing dimensions and dimensions of size 1 are repeated.
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

/// The rule of a function of one operand that keeps its dimensions: each is an index of its own.
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

/// How a reduction treats pending values: the sum of sums and the maximum of maxima stay pending.
[[nodiscard]] constexpr linearity law_of(reduction fold) noexcept {
  constexpr linearity laws[] = {linearity::additive, linearity::product_of, linearity::max_of,
                                linearity::min_of};
  return laws[static_cast<unsigned>(fold)];
}

/// The rule of a reduction over the dimensions whose bits are set in `reduced`; with `keep` each of
/// them stays with one element.
///
///     ([i,k]) -> ([i])
[[nodiscard]] constexpr factor_rule reduction_rule(reduction fold, int rank, unsigned reduced,
                                                   bool keep = false) noexcept {
  factor_rule rule;
  rule.law = law_of(fold);
  rule.fold = fold;
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
