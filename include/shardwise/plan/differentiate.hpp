// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/gradient.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/rule/gradient_step.hpp"
#include "shardwise/rule/permission.hpp"

namespace shardwise {

/// Returns the layout of a cotangent before it is propagated further: split like the value to which
/// it belongs. A pending sum stays pending, unless the value is split or pending over the axis, so
/// that sums that are added are reduced once. If a cotangent varies over devices that share the
/// value, its values are the terms of such a sum.
[[nodiscard]] constexpr layout_desc dual_layout(const layout_desc& of,
                                                const layout_desc& cotangent) noexcept {
  layout_desc dual = gradient_layout(of);
  unsigned taken = of.pending | of.manual;
  for (const axis_list& axes : of.dims) taken |= detail::bits_of(axes);
  if (cotangent.kind == reduction::sum)
    dual.pending =
        static_cast<std::uint8_t>((unsigned{cotangent.pending} | cotangent.manual) & ~taken);
  return dual;
}

/// Appends the gradient of a value of a program to the program, in one pass over the instructions
/// from the last to the first, each of which computes the cotangents of its operands.
///
/// Everything appended is an ordinary instruction, including reshards. Unused ones are left for
/// `keep_needed` to remove. Uses the notes of the values from `begin` on.
class differentiation final : public gradient_step {
 public:
  /// Prepares for cotangents of `wanted`, which are values from `begin` on.
  template <class Ids>
  constexpr differentiation(program_builder& code, value_id begin, const Ids& wanted)
      : code_(code), begin_(begin), end_(code.size()) {
    for (value_id i = begin_; i < end_; ++i) code_.note(i) = constant;
    for (value_id i : wanted) code_.note(i) = no_cotangent;
    for (value_id i = begin_; i < end_; ++i) {
      if (is_custom_gradient(*code_[i].what)) meet_custom(i);
      if (code_[i].what->stops_gradient || !has_fractions(code_.value(i).type)) continue;
      for (value_id o : code_[i].operands)
        if (depends(o)) code_.note(i) = no_cotangent;
    }
  }

  /// Sets the axes, a bit each, over which the gradients of the wanted values stay pending where
  /// these are not split.
  constexpr void leave_pending(unsigned axes) noexcept { left_pending_ = axes; }

  /// Sets the cotangent of a value, or adds to it.
  constexpr void seed(value_id of, value_id cotangent) { add(of, cotangent); }
  /// The same for a number, whose cotangent is 1.
  constexpr void seed(value_id of) {
    const tensor_desc& loss = code_.value(of);
    if (!has_fractions(loss.type) || element_count(loss.extents) != 1 || loss.layout.manual != 0)
      fail({.rule = violation::loss_is_no_number});
    add(of, code_.constant(1.0, loss.type));
  }
  /// Appends all gradients.
  constexpr void run() {
    for (self_ = end_ - 1; self_ >= begin_; --self_) {
      const operation& what = *code_[self_].what;
      if (is_custom_gradient(what)) {
        follow_custom();
        continue;
      }
      if (!depends(self_) || what.is_leaf || is_result(what) || !has_cotangents()) continue;
      if (what.gradient == nullptr) fail({.rule = violation::operation_has_no_gradient}, what.name);
      how_ = code_.how(self_);
      what.gradient(*this);
    }
  }
  /// Returns the cotangent of a value with that value's extents and a given layout, as a separate
  /// tensor.
  [[nodiscard]] constexpr value_id cotangent_of(value_id of, const layout_desc& layout) {
    value_id made = known_cotangent(of);
    if (made < 0) made = code_.constant(0.0, code_.value(of).type);
    made = spread(made, of);
    layout_desc known = layout;
    known.pending &= code_.value(made).layout.pending;
    made = resharded(made, known);
    if (is_constant(*code_[made].what)) made = filled(made);
    return known.pending == layout.pending ? made : as_terms(made, layout);
  }

  [[nodiscard]] constexpr const mesh_desc& mesh() const override { return code_.mesh(); }
  [[nodiscard]] constexpr const attributes& how() const override { return how_; }
  [[nodiscard]] constexpr int operand_count() const override {
    return code_[self_].operands.ssize();
  }
  [[nodiscard]] constexpr gradient_value operand(int k) override {
    return {this, computed_again(code_[self_].operands[k])};
  }
  [[nodiscard]] constexpr gradient_value result(int number = 0) override {
    return {this, computed_again(result_id(number))};
  }
  [[nodiscard]] constexpr gradient_value cotangent(int number = 0) override {
    const value_id of = result_id(number);
    value_id made = of < 0 ? -1 : known_cotangent(of);
    // The results of an operation have the extents of the first.
    if (made < 0) made = code_.constant(0.0, code_.value(of < 0 ? self_ : of).type);
    if (!code_[self_].what->is_elementwise) made = spread(made, of < 0 ? self_ : of);
    return {this, made};
  }
  [[nodiscard]] constexpr bool wants(int k) const override {
    return depends(code_[self_].operands[k]);
  }
  [[nodiscard]] constexpr unsigned left_pending(int k) const override {
    value_id of = code_[self_].operands[k];
    while (depends(of) && code_[of].what->is_elementwise && code_[of].operands.ssize() == 1 &&
           depends(code_[of].operands[0]))
      of = code_[of].operands[0];
    if (!depends(of)) return 0;
    // Only a wanted value depends on nothing.
    for (value_id o : code_[of].operands)
      if (depends(o)) return 0;
    return left_pending_;
  }
  constexpr void give(int k, const gradient_value& cotangent) override {
    const value_id of = code_[self_].operands[k];
    if (!depends(of)) return;
    add(of, code_[self_].what->is_elementwise ? counted(cotangent.id, of) : cotangent.id);
  }
  [[nodiscard]] constexpr gradient_value number(double value, const gradient_value& like) override {
    return {this, code_.constant(value, code_.value(like.id).type)};
  }
  [[nodiscard]] constexpr gradient_value emit(const operation& what, const attributes& how,
                                              const value_ids& operands) override {
    return {this, append(what, how, operands)};
  }
  [[nodiscard]] constexpr gradient_value emit(const operation& what, const attributes& how,
                                              const gradient_value& operand,
                                              const tensor_desc& result) override {
    const value_id read = is_constant(*code_[operand.id].what) ? filled(operand.id) : operand.id;
    return {this, code_.append(what, how, {read}, result)};
  }
  [[nodiscard]] constexpr gradient_value laid_out(const gradient_value& value,
                                                  const layout_desc& layout) override {
    return {this, resharded(value.id, layout)};
  }
  [[nodiscard]] constexpr gradient_value further(const gradient_value& made, int number,
                                                 element type) override {
    tensor_desc result = code_.value(made.id);
    result.type = type;
    return {this, code_.append(operation_of<result_operation>, result_operation::how(number),
                               {made.id}, result)};
  }
  [[nodiscard]] constexpr tensor_desc tensor_of(value_id value) const override {
    return code_.value(value);
  }

 private:
  // The notes of values; a cotangent is its number plus `some`.
  static constexpr std::int32_t constant = 0, no_cotangent = 1, some = 2;

  [[nodiscard]] constexpr bool depends(value_id i) const noexcept {
    return i >= begin_ && code_.note(i) != constant;
  }
  [[nodiscard]] constexpr value_id known_cotangent(value_id i) const noexcept {
    return depends(i) && code_.note(i) >= some ? code_.note(i) - some : -1;
  }
  /// The value of a result of the operation whose gradient is taken; -1 if nothing reads it.
  [[nodiscard]] constexpr value_id result_id(int number) const noexcept {
    if (number == 0) return self_;
    for (value_id i = self_ + 1; i < end_; ++i)
      if (is_result(*code_[i].what) && code_[i].operands[0] == self_ &&
          result_operation::number(code_.how(i)) == number)
        return i;
    return -1;
  }
  [[nodiscard]] constexpr bool has_cotangents() const noexcept {
    for (value_id i = self_; i < end_; ++i)
      if ((i == self_ || (is_result(*code_[i].what) && code_[i].operands[0] == self_)) &&
          known_cotangent(i) >= 0)
        return true;
    return false;
  }

  /// Returns a copy of the attributes of a value, since appending may move those of the program. In
  /// constant expressions g++ 12 cannot copy attributes that were never written.
  [[nodiscard]] constexpr attributes how_of(value_id i) const {
    if (code_[i].how == 0) return {};
    return code_.how(i);
  }
  /// Returns a value that gradients do not keep, computed again from values that they keep, each
  /// once.
  [[nodiscard]] constexpr value_id computed_again(value_id i) {
    if (i >= 0 && is_cotangent(*code_[i].what)) return known_cotangent(i);
    if (i < 0 || !code_[i].recomputed || code_[i].what->is_leaf) return i;
    for (value_id j = end_; j < code_.size(); ++j)
      if (code_.note(j) == -1 - i) return j;
    value_ids operands = code_[i].operands;
    for (value_id& o : operands) o = computed_again(o);
    const tensor_desc result = code_.value(i);
    const value_id again = code_.append(*code_[i].what, how_of(i), operands, result);
    code_.note(again) = -1 - i;
    return again;
  }

  /// Marks the results of a function with a custom gradient as dependent on its arguments.
  constexpr void meet_custom(value_id i) {
    const value_ids& read = code_[i].operands;
    if (!custom_gradient_operation::is_of_results(code_.how(i))) {
      if (depends(read[0])) code_.note(read[2]) = no_cotangent;
      return;
    }
    const int count = read.ssize() / 2;
    if (count == 0 || !depends(read[count])) return;
    for (int k = 0; k < count; ++k)
      if (has_fractions(code_.value(read[k]).type)) code_.note(read[k]) = no_cotangent;
  }
  /// Applies a custom gradient: substitutes the cotangents of the results for the recorded
  /// placeholders and computes the recorded gradients. The function's own instructions get none.
  constexpr void follow_custom() {
    // A copy, since appending may move the instructions of the program.
    const value_ids read = code_[self_].operands;
    if (!custom_gradient_operation::is_of_results(code_.how(self_))) {
      if (known_cotangent(read[2]) >= 0 && depends(read[0])) add(read[0], computed_again(read[1]));
      return;
    }
    const int count = read.ssize() / 2;
    bool is_met = false;
    for (int k = 0; k < count; ++k) is_met = is_met || known_cotangent(read[k]) >= 0;
    if (!is_met) return;
    for (int k = 0; k < count; ++k) {
      const layout_desc layout = code_.value(read[count + k]).layout;
      const value_id met = cotangent_of(read[k], layout);
      code_.note(read[count + k]) = met + some;
      if (depends(read[k])) code_.note(read[k]) = no_cotangent;
    }
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
  /// Returns the cotangent of an operand of an elementwise operation, times the number of elements
  /// of the result that read an element of the operand and share an element of the cotangent: those
  /// of the dimensions that neither of the two has.
  [[nodiscard]] constexpr value_id counted(value_id cotangent, value_id of) {
    const extents_desc all = code_.value(self_).extents;
    const auto lacks = [&](value_id i, int d) {
      const extents_desc& have = code_.value(i).extents;
      const int at = d - (all.ssize() - have.ssize());
      return all[d] != 1 && (at < 0 || have[at] == 1);
    };
    index_t count = 1;
    for (int d = 0; d < all.ssize(); ++d) {
      if (!lacks(cotangent, d) || !lacks(of, d)) continue;
      if (all[d] == dyn) return spread(cotangent, self_);
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

  /// Adds to the cotangent of a value.
  constexpr void add(value_id of, value_id cotangent) {
    if (code_.value(cotangent).type != code_.value(of).type)
      fail({.rule = violation::operand_elements_differ});
    value_id made = summed(cotangent, of);
    if (!is_constant(*code_[made].what))
      made = resharded(made, dual_layout(aligned(of, made), code_.value(made).layout));
    if (const value_id before = known_cotangent(of); before >= 0) {
      const layout_desc& a = code_.value(before).layout;
      const layout_desc& b = code_.value(made).layout;
      const auto both = static_cast<std::uint8_t>(a.pending & b.pending);
      made = append(operation_of<pointwise<functions::add>>, {},
                    {still_pending(before, both), still_pending(made, both)});
    }
    code_.note(of) = made + some;
  }
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

  program_builder& code_;
  value_id begin_;
  value_id end_;
  value_id self_ = -1;
  unsigned left_pending_ = 0;
  /// A copy, since appending may reallocate the program's own.
  attributes how_{};
};

}  // namespace shardwise
