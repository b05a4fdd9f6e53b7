// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/open_layout.hpp"
#include "shardwise/rule/composite.hpp"

namespace shardwise {

/// How one tensor splits one factor of an operation. Axes that do not fit into the factor, though
/// inner factors of its dimension follow, are `overflow`.
struct factor_state {
  axis_list axes{};
  axis_list overflow{};
  /// The dimension that has the factor, or -1: the first one that is split if there are several, as
  /// in a diagonal.
  int dim = -1;
  bool closed = false;
  bool innermost = false;
  index_t size = dyn;
};

/// How one tensor splits all factors of an operation.
struct tensor_state {
  factor_state factors[max_factors]{};
  /// The axes that must not split the tensor, one bit for each.
  unsigned replicated = 0;
};

/// Converts between the layouts of the dimensions of tensors and the splits of the factors of an
/// operation. A dimension that a reshape forms from several factors has the axes of the outer ones
/// first.
///
///     // ([(i,j)])->([i,j]), i of size 2: [{"a", "b"}] with axes of size 2 splits i by a, j by b
class factor_projection {
 public:
  /// `sizes` are those of the factors.
  constexpr factor_projection(const mesh_desc& mesh, const factor_rule& rule,
                              const factor_sizes& sizes) noexcept
      : mesh_(mesh), rule_(rule), sizes_(sizes) {
    for (int f = 0; f < rule.factors.ssize(); ++f) same_[f] = static_cast<std::uint8_t>(f);
    for (const composite_factor& made : rule.composites)
      if (made.how == composition::sum)
        for (std::uint8_t part : made.parts) same_[part] = made.whole;
    // Layouts are not propagated through slices and padding: their sizes rarely divide alike.
    for (const factor_window& read : rule.windows)
      if (!read.may_gather) same_[read.source] = same_[read.reader];
  }

  /// Returns true if a factor passes through: its indices are those of other tensors, in order.
  [[nodiscard]] constexpr bool passes(int factor) const noexcept {
    for (int f = 0; f < rule_.factors.ssize(); ++f)
      if (same_[f] == factor && rule_.factors[f] != factor_kind::pass_through) return false;
    return true;
  }

  /// Returns how a tensor splits the factors.
  [[nodiscard]] constexpr tensor_state project(const factor_map& map,
                                               const open_layout& layout) const noexcept {
    tensor_state out;
    out.replicated = layout.replicated;
    for (int d = 0; d < map.ssize(); ++d) {
      const axis_list& axes = layout.dims[d];
      if (map[d] == repeated) {
        // Without a factor, a dimension keeps its axes to itself.
        for (std::uint8_t a : axes) out.replicated |= 1U << a;
        continue;
      }
      const factor_list parts = factors_of(map[d]);
      int next = 0;
      bool overflows = false;
      for (int p = 0; p < parts.ssize(); ++p) {
        factor_state& at = out.factors[parts[p]];
        if (at.dim >= 0 && (axes.empty() || !at.axes.empty())) {
          // Another dimension has the factor, and these axes must not split the tensor again.
          for (std::uint8_t a : axes) out.replicated |= 1U << a;
          break;
        }
        at.dim = d;
        at.closed = layout.is_closed(d) || overflows;
        at.innermost = p + 1 == parts.ssize();
        at.size = size_of(map[d], p);
        if (overflows) continue;
        index_t left = at.size;
        for (; next < axes.ssize(); ++next) {
          const index_t parts_made = mesh_.size(axes[next]);
          if (!at.innermost && (left == dyn || left % parts_made != 0)) break;
          if (!at.innermost) left /= parts_made;
          at.axes.push_back(axes[next]);
        }
        overflows = !at.innermost && left != 1 && next < axes.ssize();
        if (overflows)
          for (int i = next; i < axes.ssize(); ++i) at.overflow.push_back(axes[i]);
      }
    }
    return out;
  }

  /// Gives the axes of the factors back to the dimensions that have them. An inner factor is split
  /// only if the outer ones are split into single indices.
  constexpr bool give_back(const factor_map& map, const tensor_state& from,
                           open_layout& layout) const noexcept {
    bool changed = false;
    for (int d = 0; d < map.ssize(); ++d) {
      if (map[d] == repeated) continue;
      const factor_list parts = factors_of(map[d]);
      axis_list axes;
      for (int p = 0; p < parts.ssize(); ++p) {
        const factor_state& at = from.factors[parts[p]];
        if (at.dim != d) break;
        index_t made = 1;
        for (std::uint8_t a : at.axes) {
          axes.push_back(a);
          made *= mesh_.size(a);
        }
        for (std::uint8_t a : at.overflow) axes.push_back(a);
        if (!at.overflow.empty() || made != size_of(map[d], p)) break;
      }
      if (axes.size() <= layout.dims[d].size() || !layout.dims[d].is_prefix_of(axes)) continue;
      layout.dims[d] = axes;
      changed = true;
    }
    return changed;
  }

 private:
  using factor_list = inplace_vector<std::uint8_t, max_rank>;

  /// Returns the factors of a dimension, from the outermost inwards.
  [[nodiscard]] constexpr factor_list factors_of(std::uint8_t factor) const noexcept {
    factor_list all;
    const int c = rule_.composite_of(factor);
    if (c >= 0 && rule_.composites[c].how == composition::product)
      for (std::uint8_t part : rule_.composites[c].parts) all.push_back(same_[part]);
    else
      all.push_back(same_[factor]);
    return all;
  }
  /// Returns the size of one of these factors in a dimension.
  [[nodiscard]] constexpr index_t size_of(std::uint8_t dimension, int part) const noexcept {
    const int c = rule_.composite_of(dimension);
    if (c >= 0 && rule_.composites[c].how == composition::product)
      return sizes_[rule_.composites[c].parts[part]];
    return sizes_[dimension];
  }

  const mesh_desc& mesh_;
  const factor_rule& rule_;
  const factor_sizes& sizes_;
  /// The factor that stands for those with the same splits: the dimension along which operands are
  /// joined for their parts of it, windows for what they read.
  std::uint8_t same_[max_factors]{};
};

}  // namespace shardwise
