// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/factor_projection.hpp"
#include "shardwise/rule/layout_flow.hpp"

namespace shardwise {

/// The tensors of an operation, its operands and then its result, while their layouts are
/// completed.
using tensor_layouts = inplace_vector<open_layout*, max_operands + 1>;

/// Completes the layouts of the operands and the result of one operation from each other, as its
/// factor rule relates them.
///
///     // [i,k],[k,j] -> [i,j] with [{"a"}, {"b"}], [{?}, {?}] and [{?}, {?}]
///     //                   gives [{"a"}, {"b"}], [{"b", ?}, {?}] and [{"a", ?}, {?}]
class layout_completion {
 public:
  /// `extents` are those of the operands and then of the result; with `uneven`, axes may split
  /// extents that they do not divide.
  constexpr layout_completion(const mesh_desc& mesh, const factor_rule& rule,
                              const factor_sizes& sizes, bool uneven) noexcept
      : mesh_(mesh), rule_(rule), sizes_(sizes), factors_(mesh, rule, sizes), uneven_(uneven) {}

  /// Returns true if a factor passes through: its indices are those of other tensors, in order.
  [[nodiscard]] constexpr bool passes(int factor) const noexcept { return factors_.passes(factor); }

  /// Completes the layouts; `flows` has the flow of each factor. Returns true if any has changed.
  constexpr bool run(const tensor_layouts& tensors,
                     const inplace_vector<layout_flow, max_factors>& flows,
                     conflict_strategy strategy) noexcept {
    seen_.clear();
    for (int t = 0; t < tensors.ssize(); ++t)
      seen_.push_back(factors_.project(map_of(t), *tensors[t]));
    if (strategy == conflict_strategy::basic)
      agree(flows);
    else
      decide(flows);
    bool changed = false;
    for (int t = 0; t < tensors.ssize(); ++t)
      changed = factors_.give_back(map_of(t), seen_[t], *tensors[t]) || changed;
    return changed;
  }

 private:
  [[nodiscard]] constexpr const factor_map& map_of(int tensor) const noexcept {
    return tensor < rule_.operands.ssize() ? rule_.operands[tensor] : rule_.result;
  }
  [[nodiscard]] constexpr bool is_operand(int tensor) const noexcept {
    return tensor < rule_.operands.ssize();
  }

  /// Returns the axes along which the tensors agree on a factor: the longest that none contradicts.
  /// With a flow in one direction, the other tensors contradict but add none.
  [[nodiscard]] constexpr axis_list agreed_axes(int factor, layout_flow flow) const noexcept {
    axis_list out;
    if (flow == layout_flow::nowhere) return out;
    bool may_grow = true;
    const auto meet = [&](bool operands) {
      for (int t = 0; t < seen_.ssize(); ++t) {
        const factor_state& at = seen_[t].factors[factor];
        if (is_operand(t) != operands || at.dim < 0) continue;
        int common = 0;
        while (common < out.ssize() && common < at.axes.ssize() && out[common] == at.axes[common])
          ++common;
        if (common < out.ssize() && common < at.axes.ssize()) {
          out.resize(static_cast<std::size_t>(common));
          may_grow = false;
        } else if (may_grow && at.axes.size() > out.size()) {
          out = at.axes;
        }
      }
    };
    meet(flow != layout_flow::backward);
    if (flow != layout_flow::both) may_grow = false;
    meet(flow == layout_flow::backward);
    return out;
  }

  /// Removes an axis that a tensor cannot have in a factor, and those behind it.
  constexpr void fit_factor(axis_list& axes, int factor,
                            const tensor_state& tensor) const noexcept {
    const factor_state& at = tensor.factors[factor];
    index_t parts_made = 1;
    for (int i = 0; i < axes.ssize(); ++i) {
      parts_made *= mesh_.size(axes[i]);
      const bool has = at.axes.contains(axes[i]);
      const bool divides = at.size != dyn && at.size % parts_made == 0;
      const bool may_take =
          !at.closed && at.overflow.empty() && (divides || (at.innermost && uneven_));
      if ((tensor.replicated >> axes[i] & 1U) == 0 && (has || may_take)) continue;
      axes.resize(static_cast<std::size_t>(i));
      return;
    }
  }
  /// Removes an axis that splits another factor of a tensor, and those behind it.
  constexpr void fit_others(axis_list& axes, int factor,
                            const tensor_state& tensor) const noexcept {
    for (int f = 0; f < rule_.factors.ssize(); ++f) {
      if (f == factor) continue;
      for (int i = 0; i < axes.ssize(); ++i)
        if (tensor.factors[f].axes.contains(axes[i]) ||
            tensor.factors[f].overflow.contains(axes[i])) {
          axes.resize(static_cast<std::size_t>(i));
          break;
        }
    }
  }
  /// Splits a factor by more axes if they begin with those that it has.
  static constexpr void grow(factor_state& at, const axis_list& axes) noexcept {
    if (at.dim >= 0 && axes.size() > at.axes.size() && at.axes.is_prefix_of(axes)) at.axes = axes;
  }

  /// The strategy `basic`: one factor after the other gets the axes that every tensor can have.
  constexpr void agree(const inplace_vector<layout_flow, max_factors>& flows) noexcept {
    for (int f = 0; f < rule_.factors.ssize(); ++f) {
      axis_list axes = agreed_axes(f, flows[f]);
      for (const tensor_state& tensor : seen_) {
        fit_others(axes, f, tensor);
        if (tensor.factors[f].dim >= 0) fit_factor(axes, f, tensor);
      }
      for (tensor_state& tensor : seen_) grow(tensor.factors[f], axes);
    }
  }

  /// The strategy `aggressive`: each tensor gets what it can have. Operands get the axes of other
  /// operands only as far as the result can have them too.
  constexpr void decide(const inplace_vector<layout_flow, max_factors>& flows) noexcept {
    inplace_vector<axis_list, max_factors> wanted;
    for (int f = 0; f < rule_.factors.ssize(); ++f) wanted.push_back(agreed_axes(f, flows[f]));
    const inplace_vector<std::uint8_t, max_factors> order = larger_first(wanted);
    const int result = seen_.ssize() - 1;
    for (int t = 0; t < seen_.ssize(); ++t) {
      tensor_state& tensor = seen_[t];
      for (std::uint8_t f : order) {
        if (tensor.factors[f].dim < 0) continue;
        axis_list axes = wanted[f];
        if (is_operand(t) && seen_[result].factors[f].dim >= 0) fit_factor(axes, f, seen_[result]);
        fit_factor(axes, f, tensor);
        fit_others(axes, f, tensor);
        grow(tensor.factors[f], axes);
      }
    }
  }
  /// Returns the factors in the order of the largest tensor that has their axes, the largest first.
  [[nodiscard]] constexpr inplace_vector<std::uint8_t, max_factors> larger_first(
      const inplace_vector<axis_list, max_factors>& wanted) const noexcept {
    index_t sizes[max_factors]{};
    inplace_vector<std::uint8_t, max_factors> order;
    for (int f = 0; f < wanted.ssize(); ++f) {
      for (int t = 0; t < seen_.ssize(); ++t)
        if (seen_[t].factors[f].dim >= 0 && !wanted[f].empty() &&
            wanted[f].is_prefix_of(seen_[t].factors[f].axes))
          sizes[f] = elements_of(t) > sizes[f] ? elements_of(t) : sizes[f];
      int at = order.ssize();
      order.push_back(static_cast<std::uint8_t>(f));
      for (; at > 0 && sizes[order[at - 1]] < sizes[f]; --at) order[at] = order[at - 1];
      order[at] = static_cast<std::uint8_t>(f);
    }
    return order;
  }
  [[nodiscard]] constexpr index_t elements_of(int tensor) const noexcept {
    index_t count = 1;
    for (std::uint8_t f : map_of(tensor))
      if (f != repeated) count = size_product(count, sizes_[f]);
    return count;
  }

  const mesh_desc& mesh_;
  const factor_rule& rule_;
  const factor_sizes& sizes_;
  factor_projection factors_;
  bool uneven_;
  inplace_vector<tensor_state, max_operands + 1> seen_{};
};

}  // namespace shardwise
