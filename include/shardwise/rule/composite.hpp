// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/single_cut.hpp"
#include "shardwise/rule/factor_rule.hpp"

namespace shardwise {

/// How one factor is split, and how large it is.
struct factor_split {
  axis_list axes{};
  grain how{};
  index_t size = dyn;

  friend constexpr bool operator==(const factor_split&, const factor_split&) = default;
};

/// The splits of the factors of a product, or the axis that none of them can take.
struct product_split {
  factor_split whole{};
  inplace_vector<factor_split, max_rank> parts{};
  /// The number of the axis in its mesh, or -1.
  int misfit = -1;

  [[nodiscard]] constexpr bool ok() const noexcept { return misfit < 0; }
};

/// Returns the product of two sizes, `dyn` if either is `dyn`, INT64_MAX if it is too large for a
/// tensor.
[[nodiscard]] constexpr index_t size_product(index_t a, index_t b) noexcept {
  if (a == dyn || b == dyn) return dyn;
  return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

/// The distinct sizes of the ranges into which successive axes split the indices of a factor. Sizes
/// that are `dyn` are not checked yet.
class cut_ranges {
 public:
  constexpr explicit cut_ranges(index_t size) noexcept { sizes_.push_back(size); }

  /// Splits every range into `parts` chunks. Returns false, after which the object must not be
  /// used, if the same chunks would be split differently where each index stands for `rest`
  /// elements.
  [[nodiscard]] constexpr bool cut(index_t parts, index_t rest) noexcept {
    inplace_vector<index_t, most> next;
    for (index_t size : sizes_) {
      if (size == dyn || parts == dyn) {
        next = {dyn};
        break;
      }
      const index_t chunk = ceil_div(size, parts);
      if (rest != dyn && ceil_div(size_product(size, rest), parts) != size_product(chunk, rest))
        return false;
      const index_t last = chunk == 0 ? 0 : size - (ceil_div(size, chunk) - 1) * chunk;
      const bool all_have = chunk == 0 || ceil_div(size, chunk) == parts;
      for (index_t left : {chunk, last, all_have ? chunk : index_t{0}}) {
        if (next.contains(left)) continue;
        if (next.full()) return false;
        next.push_back(left);
      }
    }
    sizes_ = next;
    return true;
  }
  /// Returns true if no range has more than one index, and some range has one.
  [[nodiscard]] constexpr bool are_single() const noexcept {
    for (index_t size : sizes_)
      if (size == dyn || size > 1) return false;
    return sizes_.contains(1);
  }

 private:
  /// Even splits need one element, uneven ones about two more for each axis.
  static constexpr std::size_t most = 32;

  inplace_vector<index_t, most> sizes_{};
};

namespace detail {

/// Returns the number of elements that each index of part `k` of a product stands for.
[[nodiscard]] constexpr index_t rest_after(const product_split& split, int k) noexcept {
  index_t rest = 1;
  for (int next = k + 1; next < split.parts.ssize(); ++next)
    rest = size_product(rest, split.parts[next].size);
  return rest;
}

/// Returns the first part that has more than one index.
[[nodiscard]] constexpr int major_part(const product_split& split) noexcept {
  int k = 0;
  while (k + 1 < split.parts.ssize() && split.parts[k].size == 1) ++k;
  return k;
}

/// Returns true if the chunks of a strided factor of `size` are those of the product, in which each
/// index stands for `rest` elements.
[[nodiscard]] constexpr bool are_same_chunks(index_t size, index_t chunks, index_t parts,
                                             index_t rest) noexcept {
  if (size == dyn || parts == dyn || rest == dyn || size == 0) return true;
  const auto alike = [&](index_t n, index_t k) {
    return ceil_div(size_product(n, rest), k) == size_product(ceil_div(n, k), rest);
  };
  const index_t round = ceil_div(size, chunks);
  return alike(size, chunks) && alike(round, parts) && alike(size % round, parts);
}

/// Returns the grain of a split; axes that have one device together split nothing, so whatever they
/// say, it is contiguous.
[[nodiscard]] constexpr grain grain_of(const mesh_desc& mesh, const factor_split& factor) noexcept {
  if (mesh.parts(factor.axes) == 1) return {};
  return said_by_axis(mesh, factor.axes, factor.how, factor.size);
}

}  // namespace detail

/// Splits the parts of a product so that each device has the same elements as under the split of
/// the whole: major parts take axes until each device has one index of them. The sizes of the parts
/// are known.
///
///     // 8 = 2 x 4 over x=2, y=2: x splits the 2, y the 4
[[nodiscard]] constexpr product_split split_parts(const mesh_desc& mesh,
                                                  product_split split) noexcept {
  factor_split& whole = split.whole;
  whole.how = detail::grain_of(mesh, whole);
  if (!whole.how.is_contiguous()) {
    const int k = detail::major_part(split);
    const index_t rest = detail::rest_after(split, k);
    factor_split& part = split.parts[k];
    part.axes = whole.axes;
    part.how = whole.how;
    const bool cut_alike =
        whole.how.is_cyclic()
            ? rest > 0 && whole.how.number() % rest == 0
            : detail::are_same_chunks(part.size, whole.how.number(), mesh.parts(whole.axes), rest);
    if (!cut_alike)
      split.misfit = whole.axes.back();
    else if (whole.how.is_cyclic())
      part.how = grain::cyclic(whole.how.number() / rest);
    return split;
  }
  int k = 0;
  cut_ranges ranges(split.parts[0].size);
  for (std::uint8_t a : whole.axes) {
    const index_t parts = mesh.size(a);
    while (parts != 1 && ranges.are_single() && k + 1 < split.parts.ssize())
      ranges = cut_ranges(split.parts[++k].size);
    split.parts[k].axes.push_back(a);
    if (parts != 1 && !ranges.cut(parts, detail::rest_after(split, k))) {
      split.misfit = a;
      return split;
    }
  }
  return split;
}

/// Splits the whole of a product so that each device has the same elements as under the splits of
/// its parts: a part may be split if each device has at most one index of every part before it.
///
///     // 2@x and 4@y make 8@(x,y) where x=2; 2 and 4@y make nothing that is split
[[nodiscard]] constexpr product_split join_parts(const mesh_desc& mesh,
                                                 product_split split) noexcept {
  factor_split& whole = split.whole;
  whole.axes.clear();
  whole.how = {};
  bool may_split = true;
  for (int k = 0; k < split.parts.ssize(); ++k) {
    factor_split part = split.parts[k];
    part.how = detail::grain_of(mesh, part);
    const index_t rest = detail::rest_after(split, k);
    cut_ranges ranges(part.size);
    for (std::uint8_t a : part.axes) {
      whole.axes.push_back(a);
      if (mesh.size(a) == 1) continue;
      const bool fits = may_split && whole.how.is_contiguous() &&
                        (part.how.is_contiguous() ? ranges.cut(mesh.size(a), rest)
                                                  : detail::major_part(split) == k);
      if (!fits) {
        split.misfit = a;
        return split;
      }
    }
    if (!part.how.is_contiguous()) {
      const index_t number = size_product(part.how.number(), part.how.is_cyclic() ? rest : 1);
      const bool fits = part.how.is_cyclic() ? number > 0 && number <= grain::largest
                                             : detail::are_same_chunks(part.size, number,
                                                                       mesh.parts(part.axes), rest);
      if (!fits) {
        split.misfit = part.axes.back();
        return split;
      }
      whole.how = part.how.is_cyclic() ? grain::cyclic(number) : part.how;
    }
    may_split = may_split && ranges.are_single();
  }
  return split;
}

/// Infers sizes of factors: the whole of a product or a sum from its parts, and one part from the
/// whole and the other parts. Checks that they agree; the operand of the verdict has the whole or a
/// part.
[[nodiscard]] constexpr diagnosis complete_sizes(const factor_rule& rule,
                                                 factor_sizes& sizes) noexcept {
  for (const factor_window& one : rule.windows)
    if (sizes[one.reader] == dyn) sizes[one.reader] = one.reads.count(sizes[one.source]);
  for (int round = 0; round < 2; ++round)
    for (const composite_factor& made : rule.composites) {
      const bool is_product = made.how == composition::product;
      index_t known = is_product ? 1 : 0;
      int missing = -1;
      int unknown = 0;
      for (std::uint8_t part : made.parts) {
        if (sizes[part] == dyn) {
          missing = part;
          ++unknown;
        } else {
          known = is_product ? size_product(known, sizes[part]) : size_sum(known, sizes[part]);
        }
      }
      index_t& whole = sizes[made.whole];
      if (unknown == 0 && whole == dyn) whole = known;
      if (unknown == 1 && whole != dyn && (!is_product || known > 0)) {
        sizes[missing] = is_product ? whole / known : whole - known;
        known = is_product ? size_product(known, sizes[missing]) : whole;
        unknown = 0;
      }
      // If a known part is empty, no size of another part gives the whole.
      const bool is_in_vain = is_product && known == 0 && whole > 0;
      if (whole == dyn || (unknown > 0 && !is_in_vain) ||
          (known == whole && (missing < 0 || sizes[missing] >= 0)))
        continue;
      diagnosis verdict{.rule = violation::operand_sizes_differ, .have = whole, .want = known};
      for (int o = 0; o < rule.operands.ssize() && verdict.operand < 0; ++o)
        for (int d = 0; d < rule.operands[o].ssize() && verdict.operand < 0; ++d)
          if (rule.has_part(made.whole, rule.operands[o][d])) {
            verdict.operand = o;
            verdict.dim = d;
          }
      return verdict;
    }
  return {};
}

}  // namespace shardwise
