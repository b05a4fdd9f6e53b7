// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/gradient.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/plan/cotangent_builder.hpp"
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
  for (const axis_list& axes : of.dims) taken |= internal::bits_of(axes);
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
      : code_(code), made_(code), begin_(begin), end_(code.size()) {
    for (value_id i = begin_; i < end_; ++i) code_.note(i) = constant;
    for (value_id i : wanted)
      if (has_fractions(code_.value(i).type)) code_.note(i) = no_cotangent;
    for (value_id i = begin_; i < end_; ++i) {
      if (is_custom_gradient(*code_[i].what)) {
        meet_custom(i);
        refuse_captured(i, wanted);
      }
      if (code_[i].what->stops_gradient || !has_fractions(code_.value(i).type)) continue;
      for (value_id o : code_[i].operands)
        if (depends(o)) code_.note(i) = no_cotangent;
    }
  }

  /// Sets the axes, a bit each, over which the gradients of the wanted values stay pending where
  /// these are not split.
  constexpr void leave_pending(unsigned axes) noexcept { left_pending_ = axes; }

  /// Sets the cotangent of a value, or adds to it, unless the value has no derivative: integers,
  /// and what depends on no wanted value.
  constexpr void seed(value_id of, value_id cotangent) {
    if (depends(of)) add(of, cotangent);
  }
  /// The same for a number, whose cotangent is 1.
  constexpr void seed(value_id of) {
    const tensor_desc& loss = code_.value(of);
    if (!has_fractions(loss.type) || element_count(loss.extents) != 1 || loss.layout.manual != 0)
      fail({.rule = violation::loss_is_no_number});
    if (depends(of)) add(of, code_.constant(1.0, loss.type));
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
    made = made_.spread(made, of);
    layout_desc known = layout;
    known.pending &= code_.value(made).layout.pending;
    made = made_.resharded(made, known);
    if (is_constant(*code_[made].what)) made = made_.filled(made);
    return known.pending == layout.pending ? made : made_.as_terms(made, layout);
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
    if (!code_[self_].what->is_elementwise) made = made_.spread(made, of < 0 ? self_ : of);
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
    add(of,
        code_[self_].what->is_elementwise ? made_.counted(cotangent.id, of, self_) : cotangent.id);
  }
  [[nodiscard]] constexpr gradient_value number(double value, const gradient_value& like) override {
    return {this, code_.constant(value, code_.value(like.id).type)};
  }
  [[nodiscard]] constexpr gradient_value emit(const operation& what, const attributes& how,
                                              const value_ids& operands) override {
    return {this, made_.append(what, how, operands)};
  }
  [[nodiscard]] constexpr gradient_value emit(const operation& what, const attributes& how,
                                              const gradient_value& operand,
                                              const tensor_desc& result) override {
    const value_id read =
        is_constant(*code_[operand.id].what) ? made_.filled(operand.id) : operand.id;
    return {this, code_.append(what, how, {read}, result)};
  }
  [[nodiscard]] constexpr gradient_value rounded(const gradient_value& value) override {
    // A value with a name is stored. Passes compute with elements of 32 and 64 bits as they are.
    if (size_of(code_.value(value.id).type) < 4) code_.name(value.id);
    return value;
  }
  [[nodiscard]] constexpr gradient_value laid_out(const gradient_value& value,
                                                  const layout_desc& layout) override {
    return {this, made_.resharded(value.id, layout)};
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
  // The notes of values; a cotangent is its number plus `some`. A bit beside them marks what
  // depends on a captured value.
  static constexpr std::int32_t constant = 0, no_cotangent = 1, some = 2, captured = 1 << 30;

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
    const value_id again = code_.append(*code_[i].what, made_.how_of(i), operands, result);
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
  /// Refuses a function with a custom gradient that captures a value that is differentiated: only
  /// arguments have gradients.
  template <class Ids>
  constexpr void refuse_captured(value_id i, const Ids& wanted) {
    if (!custom_gradient_operation::is_of_results(code_.how(i))) return;
    const value_ids& read = code_[i].operands;
    const int count = read.ssize() / 2;
    if (count == 0) return;
    // The arguments of a function precede its results, with the same placeholder.
    value_id first = i;
    while (first > begin_ && is_custom_gradient(*code_[first - 1].what) &&
           code_[first - 1].operands.ssize() == 3 && code_[first - 1].operands[2] == read[count])
      --first;
    const auto is_argument_of_it = [&](value_id v) {
      for (value_id k = first; k < i; ++k)
        if (code_[k].operands[0] == v) return true;
      return false;
    };
    for (const value_id v : wanted)
      if (depends(v) && !is_argument_of_it(v)) code_.note(v) |= captured;
    for (value_id v = begin_; v < first; ++v) {
      if (code_[v].what->stops_gradient || !has_fractions(code_.value(v).type) ||
          is_custom_gradient(*code_[v].what) || is_argument_of_it(v))
        continue;
      for (const value_id o : code_[v].operands)
        if (o >= begin_ && (code_.note(o) & captured) != 0) code_.note(v) |= captured;
    }
    bool is_met = false;
    for (int k = 0; k < count; ++k)
      is_met = is_met || (read[k] >= begin_ && (code_.note(read[k]) & captured) != 0);
    for (value_id v = begin_; v < end_; ++v) code_.note(v) &= ~captured;
    if (is_met) fail({.rule = violation::value_is_captured});
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

  /// Adds to the cotangent of a value.
  constexpr void add(value_id of, value_id cotangent) {
    if (code_.value(cotangent).type != code_.value(of).type)
      fail({.rule = violation::operand_elements_differ});
    value_id made = made_.summed(cotangent, of);
    if (!is_constant(*code_[made].what))
      made = made_.resharded(made, dual_layout(made_.aligned(of, made), code_.value(made).layout));
    if (const value_id before = known_cotangent(of); before >= 0) {
      const layout_desc& a = code_.value(before).layout;
      const layout_desc& b = code_.value(made).layout;
      const auto both = static_cast<std::uint8_t>(a.pending & b.pending);
      made = made_.append(operation_of<pointwise<functions::add>>, {},
                          {made_.still_pending(before, both), made_.still_pending(made, both)});
    }
    code_.note(of) = made + some;
  }
  program_builder& code_;
  cotangent_builder made_;
  value_id begin_;
  value_id end_;
  value_id self_ = -1;
  unsigned left_pending_ = 0;
  /// A copy, since appending may reallocate the program's own.
  attributes how_{};
};

}  // namespace shardwise
