// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/gradient.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/rule/permission.hpp"

namespace shardwise {

/// Appends to a program what gradients compute: operations, whose operands are gathered where
/// necessary, and cotangents with other layouts and extents. A cotangent may be smaller than its
/// value and is then broadcast; it may be a number.
class cotangent_builder {
 public:
  constexpr explicit cotangent_builder(program_builder& code) noexcept : code_(code) {}

  /// Returns a copy of the attributes of a value, since appending may move those of the program. In
  /// constant expressions g++ 12 cannot copy attributes that were never written.
  [[nodiscard]] constexpr attributes how_of(value_id i) const {
    if (code_[i].how == 0) return {};
    return code_.how(i);
  }
  /// Appends an operation after gathering its operands where necessary.
  [[nodiscard]] constexpr value_id append(const operation& what, attributes how,
                                          value_ids operands) {
    if (const value_id same = simplified(what, operands); same >= 0) return same;
    // An operation reads at least one tensor; if all operands are numbers, one becomes a tensor.
    bool has_tensor = false;
    for (value_id o : operands) has_tensor = has_tensor || !is_constant(*code_[o].what);
    for (value_id& o : operands)
      if (is_constant(*code_[o].what) && !(what.is_elementwise && has_tensor)) {
        o = filled(o);
        has_tensor = true;
      }
    tensor_descs known;
    for (value_id o : operands) known.push_back(code_.value(o));
    constexpr unsigned every_axis = ~0U;
    const tensor_descs wanted = fetched(code_.mesh(), what.rule(how, known), known, every_axis);
    for (int k = 0; k < operands.ssize(); ++k)
      operands[k] = resharded(operands[k], wanted[k].layout);
    return code_.emit(what, how, operands);
  }
  /// Returns a tensor filled with a number.
  [[nodiscard]] constexpr value_id filled(value_id number) {
    const tensor_desc result = code_.value(number);
    return code_.append(operation_of<pointwise<functions::identity>>, {}, {number}, result);
  }
  /// Returns a value with another layout. A number is replicated, and a reshard that the program
  /// has already computed is not repeated.
  [[nodiscard]] constexpr value_id resharded(value_id i, const layout_desc& layout) {
    const tensor_desc& have = code_.value(i);
    if (have.layout == layout) return i;
    tensor_desc want = have;
    want.layout = layout;
    if (is_constant(*code_[i].what))
      return code_.append(operation_of<constant_operation>, how_of(i), {}, want);
    for (value_id j = i + 1; j < code_.size(); ++j) {
      if (code_[j].recomputed) continue;
      value_id from = j;
      while (from > i && code_[from].what->id == operation_of<collective_operation>.id)
        from = code_[from].operands[0];
      if (from == i && code_.value(j) == want) return j;
    }
    return append_reshard(code_, varied(i, layout), layout);
  }
  /// Turns a value that is replicated over some axes into a pending sum of equal terms over them.
  [[nodiscard]] constexpr value_id as_terms(value_id i, const layout_desc& layout) {
    tensor_desc result = code_.value(i);
    layout_desc added = layout;
    added.pending = static_cast<std::uint8_t>(layout.pending & ~result.layout.pending);
    const index_t terms = code_.mesh().parts(added.pending_axes());
    if (terms == dyn) return resharded(i, layout);
    result.layout = layout;
    const value_id part = code_.constant(1.0 / static_cast<double>(terms), result.type);
    return code_.append(operation_of<pointwise<functions::multiply>>, {}, {i, part}, result);
  }
  /// Returns a value broadcast to the extents of another and split like it.
  [[nodiscard]] constexpr value_id spread(value_id i, value_id like) {
    if (code_.value(i).extents == code_.value(like).extents) return i;
    tensor_desc ones = code_.value(like);
    ones.layout = gradient_layout(ones.layout);
    if (is_constant(*code_[i].what))
      return code_.append(operation_of<constant_operation>, how_of(i), {}, ones);
    const value_id one =
        code_.append(operation_of<constant_operation>, constant_operation::how(1.0), {}, ones);
    return append(operation_of<pointwise<functions::multiply>>, {}, {i, one});
  }
  /// Returns the cotangent of the operand `of` of an elementwise operation, times the number of
  /// elements of the result that read an element of the operand and share an element of the
  /// cotangent: those of the dimensions that neither of the two has.
  [[nodiscard]] constexpr value_id counted(value_id cotangent, value_id of, value_id result) {
    const extents_desc all = code_.value(result).extents;
    const auto lacks = [&](value_id i, int d) {
      const extents_desc& have = code_.value(i).extents;
      const int at = d - (all.ssize() - have.ssize());
      return all[d] != 1 && (at < 0 || have[at] == 1);
    };
    index_t count = 1;
    for (int d = 0; d < all.ssize(); ++d) {
      if (!lacks(cotangent, d) || !lacks(of, d)) continue;
      if (all[d] == dyn) return spread(cotangent, result);
      count *= all[d];
    }
    if (count == 1) return cotangent;
    const double number = static_cast<double>(count);
    const tensor_desc made = code_.value(cotangent);
    if (!is_constant(*code_[cotangent].what))
      return append(operation_of<pointwise<functions::multiply>>, {},
                    {cotangent, code_.constant(number, made.type)});
    const double before = constant_operation::value<double>(code_.how(cotangent));
    return code_.append(operation_of<constant_operation>, constant_operation::how(before * number),
                        {}, made);
  }
  /// Returns the sum of a value over the dimensions along which `of` was broadcast.
  [[nodiscard]] constexpr value_id summed(value_id i, value_id of) {
    const extents_desc to = code_.value(of).extents;
    const int lacking = code_.value(i).rank() - to.ssize();
    if (lacking > 0)
      i = append(operation_of<reduction_operation>,
                 reduction_operation::how(reduction::sum, (1U << lacking) - 1U, false), {i});
    const extents_desc& from = code_.value(i).extents;
    unsigned met_by_one = 0;
    for (int d = 0; d < from.ssize(); ++d)
      if (from[d] != 1 && to[to.ssize() - from.ssize() + d] == 1) met_by_one |= 1U << d;
    if (met_by_one == 0) return i;
    return append(operation_of<reduction_operation>,
                  reduction_operation::how(reduction::sum, met_by_one, true), {i});
  }
  /// Returns a value that is pending over these axes alone.
  [[nodiscard]] constexpr value_id still_pending(value_id i, std::uint8_t axes) {
    layout_desc layout = code_.value(i).layout;
    layout.pending = axes;
    return resharded(i, layout);
  }
  /// Returns the layout of a value for a cotangent that may be smaller: broadcast dimensions are
  /// not split.
  [[nodiscard]] constexpr layout_desc aligned(value_id of, value_id cotangent) const {
    const tensor_desc& whole = code_.value(of);
    const tensor_desc& small = code_.value(cotangent);
    layout_desc layout = whole.layout;
    const int lacking = whole.rank() - small.rank();
    layout.dims.clear();
    for (grain& each : layout.grains) each = {};
    for (int d = 0; d < small.rank(); ++d) {
      const bool is_met = small.extents[d] == whole.extents[lacking + d];
      layout.dims.push_back(is_met ? whole.layout.dims[lacking + d] : axis_list{});
      if (is_met) layout.grains[d] = whole.layout.grains[lacking + d];
    }
    return layout;
  }

 private:
  /// Returns the value of a product with the number 1; -1 for everything else.
  [[nodiscard]] constexpr value_id simplified(const operation& what,
                                              const value_ids& operands) const {
    if (what.id != operation_of<pointwise<functions::multiply>>.id) return -1;
    for (int k = 0; k < 2; ++k)
      if (is_number(operands[k], 1)) return operands[1 - k];
    return -1;
  }
  [[nodiscard]] constexpr bool is_number(value_id i, double value) const {
    return is_constant(*code_[i].what) && code_.value(i).rank() == 0 &&
           constant_operation::value<double>(code_.how(i)) == value;
  }
  /// Returns a value that is manual over the axes of the layout that it is to get. What varies
  /// along other axes becomes a pending sum, as the cotangent of a shared value is; a shared value
  /// becomes a manual value.
  [[nodiscard]] constexpr value_id varied(value_id i, const layout_desc& layout) {
    const auto cast = [&](unsigned axes, bool as_terms) {
      manual_collective as{.kind = collective::slice, .as_terms = as_terms};
      for (std::uint8_t a = 0; a < code_.mesh().rank(); ++a)
        if ((axes >> a & 1U) != 0) as.axes.push_back(a);
      if (axes != 0) i = append_manual(code_, i, as);
    };
    const std::uint8_t had = code_.value(i).layout.manual;
    cast(had & ~unsigned{layout.manual}, true);
    const unsigned entered = layout.manual & ~unsigned{had};
    if (entered == 0) return i;
    layout_desc shared = layout;
    shared.manual = code_.value(i).layout.manual;
    i = append_reshard(code_, i, shared);
    cast(entered, false);
    return i;
  }

  program_builder& code_;
};

}  // namespace shardwise
