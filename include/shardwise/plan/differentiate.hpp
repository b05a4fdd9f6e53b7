// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/gradient.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/plan/cotangent_builder.hpp"
#include "shardwise/rule/gradient_step.hpp"
#include "shardwise/rule/permission.hpp"

#include <utility>

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
/// `keep_needed` to remove. Uses the notes and the links of values.
class differentiation final : public gradient_step {
 public:
  /// Prepares for cotangents of `wanted`, which are values from `begin` on.
  template <class Ids>
  constexpr differentiation(program_builder& code, value_id begin, const Ids& wanted)
      : code_(code), made_(code), begin_(begin), end_(code.size()) {
    for (value_id i = begin_; i < end_; ++i) {
      code_.note(i) = constant;
      code_.next(i) = -1;
      code_.again(i) = -1;
    }
    for (value_id i : wanted) {
      if (has_fractions(code_.value(i).type)) code_.note(i) = no_cotangent;
      code_.again(i) = wanted_link;
    }
    for (value_id i = begin_; i < end_; ++i) {
      if (is_custom_gradient(*code_[i].what)) {
        meet_custom(i);
        refuse_captured(i);
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
      if (is_result(what)) list_result();
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
    if (left_pending_ == 0) return 0;
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
  // The notes of values; a cotangent is its number plus `some`.
  static constexpr std::int32_t constant = 0, no_cotangent = 1, some = 2;
  // What a value that is not computed again links to: `met_link - i` if custom gradient `i` met it.
  static constexpr value_id wanted_link = -2, met_link = -3;

  [[nodiscard]] constexpr bool depends(value_id i) const noexcept {
    return i >= begin_ && code_.note(i) != constant;
  }
  [[nodiscard]] constexpr value_id known_cotangent(value_id i) const noexcept {
    return depends(i) && code_.note(i) >= some ? code_.note(i) - some : -1;
  }
  /// The value of a result of the operation whose gradient is taken; -1 if nothing reads it.
  [[nodiscard]] constexpr value_id result_id(int number) const noexcept {
    if (number == 0) return self_;
    for (value_id i = code_.next(self_); i >= 0; i = code_.next(i))
      if (result_operation::number(code_.how(i)) == number) return i;
    return -1;
  }
  [[nodiscard]] constexpr bool has_cotangents() const noexcept {
    for (value_id i = self_; i >= 0; i = code_.next(i))
      if (known_cotangent(i) >= 0) return true;
    return false;
  }
  /// Adds a further result to the list of those of its operation, which begins with the operation
  /// and is in their order: this one precedes those that have been passed.
  constexpr void list_result() noexcept {
    const value_id of = code_[self_].operands[0];
    if (of >= begin_) code_.next(self_) = std::exchange(code_.next(of), self_);
  }

  /// Returns a value that gradients do not keep, computed again from values that they keep, each
  /// once.
  [[nodiscard]] constexpr value_id computed_again(value_id i) {
    // Each after its operands, from left to right. Until a value is computed again, it links to the
    // reader from which it was reached: chains may be of any length.
    for (value_id at = i; is_awaited(i);) {
      value_ids operands = code_[at].operands;
      int k = 0;
      while (k < operands.ssize() && !is_awaited(operands[k])) ++k;
      if (k < operands.ssize()) {
        code_.again(operands[k]) = at;
        at = operands[k];
        continue;
      }
      for (value_id& o : operands) o = read_again(o);
      const tensor_desc result = code_.value(at);
      const value_id made = code_.append(*code_[at].what, made_.how_of(at), operands, result);
      code_.note(made) = -1 - at;
      at = std::exchange(code_.again(at), made);
    }
    return read_again(i);
  }
  /// True for a value that gradients do not keep.
  [[nodiscard]] constexpr bool is_lost(value_id i) const noexcept {
    return i >= 0 && code_[i].recomputed && !code_[i].what->is_leaf;
  }
  /// True for one that is to be computed again. Only a link to an appended value that refers back
  /// is not left over from another gradient.
  [[nodiscard]] constexpr bool is_awaited(value_id i) const noexcept {
    if (!is_lost(i)) return false;
    const value_id made = code_[i].again;
    return made < end_ || made >= code_.size() || code_[made].note != -1 - i;
  }
  /// Returns what gradients read for a value that is not awaited.
  [[nodiscard]] constexpr value_id read_again(value_id i) const noexcept {
    if (i >= 0 && is_cotangent(*code_[i].what)) return known_cotangent(i);
    return is_lost(i) ? code_[i].again : i;
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
  constexpr void refuse_captured(value_id i) {
    if (!custom_gradient_operation::is_of_results(code_.how(i))) return;
    const value_ids& read = code_[i].operands;
    const int count = read.ssize() / 2;
    if (count == 0) return;
    // The arguments of a function precede its results, with the same placeholder.
    value_id first = i;
    while (first > begin_ && is_custom_gradient(*code_[first - 1].what) &&
           code_[first - 1].operands.ssize() == 3 && code_[first - 1].operands[2] == read[count])
      --first;
    // From the results back to what is differentiated, but not past the arguments: so only the
    // instructions of the function are visited. Each links to the reader from which it was reached.
    const auto enters = [&](value_id v) {
      if (!depends(v) || code_.again(v) == met_link - i) return false;
      for (value_id k = first; k < i; ++k)
        if (code_[k].operands[0] == v) return false;
      return true;
    };
    for (int k = 0; k < count; ++k)
      for (value_id at = enters(read[k]) ? read[k] : -1; at >= 0;) {
        if (code_.again(at) == wanted_link) fail({.rule = violation::value_is_captured});
        code_.again(at) = met_link - i;
        value_id inner = -1;
        if (!code_[at].what->stops_gradient && has_fractions(code_.value(at).type))
          for (const value_id o : code_[at].operands)
            if (inner < 0 && enters(o)) inner = o;
        if (inner >= 0) code_.next(inner) = at;
        at = inner >= 0 ? inner : std::exchange(code_.next(at), -1);
      }
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
