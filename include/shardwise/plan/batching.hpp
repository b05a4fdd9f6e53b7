// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/batched.hpp"
#include "shardwise/operation/broadcast_to.hpp"
#include "shardwise/operation/transpose.hpp"
#include "shardwise/plan/manual_operation.hpp"

namespace shardwise {

/// Appends instructions to a program that compute its last instructions, a function of one element,
/// for each element of a batch, in one pass over these instructions. Instructions that do not
/// depend on an element do not change.
///
/// Uses the notes of the values from `begin` on. Instructions that are no longer used are left for
/// `keep_needed` to remove.
class batching {
 public:
  constexpr batching(program_builder& code, value_id begin, const batch_dim& batch)
      : code_(code), begin_(begin), end_(code.size()), batch_(batch) {
    for (value_id i = begin_; i < end_; ++i) code_.note(i) = shared;
  }

  /// Appends a tensor with dimension `d` moved to the front.
  [[nodiscard]] static constexpr value_id with_front(program_builder& code, value_id i, int d) {
    if (d == 0) return i;
    attributes order = integer_attributes(d);
    for (int other = 0; other < code.value(i).rank(); ++other)
      if (other != d) order.integers.push_back(other);
    return code.emit(operation_of<transpose_operation>, order, {i});
  }
  /// States that a value from `begin` on represents one element of `batch`, a tensor whose first
  /// dimension is the batch.
  constexpr void argument(value_id element, value_id batch) { code_.note(element) = batch + some; }

  /// Appends all instructions that depend on an element.
  constexpr void run() {
    while (spread_marks()) {
    }
    for (value_id i = begin_; i < end_; ++i)
      if (code_.note(i) == awaited) code_.note(i) = batch_of_value(i) + some;
  }
  /// Returns a value of the function for the whole batch, with the batch as the first dimension.
  [[nodiscard]] constexpr value_id result(value_id i) {
    if (is_mapped(i)) return whole(i).id;
    const tensor_desc wanted = with_batch(batch_, require_free(code_.value(i)));
    const value_id spread = code_.emit(operation_of<broadcast_to_operation>,
                                       broadcast_to_operation::how(wanted.extents), {filled(i)});
    return append_reshard(code_, spread, wanted.layout);
  }
  /// Returns true for a value of the function that differs between elements.
  [[nodiscard]] constexpr bool is_mapped(value_id i) const noexcept {
    return i >= begin_ && i < end_ && code_.note(i) != shared;
  }

  // The interface that `internal::emit_batched` requires.
  [[nodiscard]] constexpr tensor_desc tensor_of(value_id i) const { return code_.value(i); }
  [[nodiscard]] constexpr value_id emit(const operation& what, const attributes& how,
                                        const value_ids& operands) {
    return code_.emit(what, how, operands);
  }

 private:
  // The notes of values; that of a batched value is its number plus `some`.
  static constexpr std::int32_t shared = 0, awaited = 1, some = 2;

  [[nodiscard]] constexpr batched_value whole(value_id i) const noexcept {
    return is_mapped(i) ? batched_value{code_.note(i) - some, true} : batched_value{i, false};
  }

  /// Marks the values that depend on marked values; returns true if any was marked. Placeholders of
  /// cotangents may precede the results to which they belong.
  constexpr bool spread_marks() {
    bool has_marked = false;
    const auto mark = [&](value_id i) {
      if (i < begin_ || code_.note(i) != shared) return;
      code_.note(i) = awaited;
      has_marked = true;
    };
    for (value_id i = begin_; i < end_; ++i) {
      const value_ids& read = code_[i].operands;
      if (is_argument(*code_[i].what)) continue;
      for (value_id o : read)
        if (is_mapped(o)) mark(i);
      if (!is_custom_gradient(*code_[i].what) ||
          !custom_gradient_operation::is_of_results(code_.how(i)))
        continue;
      for (int k = 0; k < read.ssize() / 2; ++k)
        if (is_mapped(read[k])) mark(read[read.ssize() / 2 + k]);
    }
    return has_marked;
  }

  /// Appends an instruction for the whole batch.
  [[nodiscard]] constexpr value_id batch_of_value(value_id i) {
    // A copy, since appending may reallocate the program's own.
    const operation& what = *code_[i].what;
    const value_ids read = code_[i].operands;
    const attributes how = code_[i].how == 0 ? attributes{} : code_.how(i);
    const tensor_desc wanted = with_batch(batch_, require_free(code_.value(i)));
    const instruction marks = code_[i];
    value_id made = -1;
    if (is_custom_gradient(what)) {
      made = append_custom(i, read, how);
    } else if (is_cotangent(what)) {
      made = code_.append(what, how, {}, wanted);
    } else if (is_result(what)) {
      made = code_.append(what, how, {whole(read[0]).id}, wanted);
    } else if (what.id == operation_of<collective_operation>.id) {
      made = append_reshard(code_, whole(read[0]).id, wanted.layout);
    } else if (what.id == operation_of<manual_collective_operation>.id) {
      manual_collective called = manual_collective::read(how);
      if (called.from >= 0) ++called.from;
      if (called.to >= 0) ++called.to;
      made = code_.append(what, called.how(), {whole(read[0]).id}, wanted);
    } else if (is_collective(what)) {
      made = code_.append(what, how, {whole(read[0]).id}, wanted);
    } else {
      inplace_vector<batched_value, max_operands> operands;
      for (value_id o : read) operands.push_back(what.is_elementwise ? whole(o) : whole_tensor(o));
      made =
          internal::emit_batched(*this, batch_.size, what, how, operands, code_.value(i).rank()).id;
      if (code_.value(made) != wanted) made = like(made, wanted);
    }
    code_.mark(made, marks);
    return made;
  }
  /// Returns a value with the layout of its elements, since the layout that a program requests of a
  /// result may differ from the one that a rule gives.
  [[nodiscard]] constexpr value_id like(value_id made, const tensor_desc& wanted) {
    const instruction at = code_[made];
    const attributes how = at.how == 0 ? attributes{} : code_.how(made);
    return code_.append(*at.what, how, at.operands, wanted);
  }
  /// Reports an error if the layout of a value uses an axis that splits the batch.
  [[nodiscard]] constexpr const tensor_desc& require_free(const tensor_desc& element) const {
    if (element.rank() == max_rank)
      fail({.rule = violation::rank_is_too_high, .have = max_rank + 1, .want = max_rank});
    const int axis = axis_of_batch(batch_, element.layout);
    if (axis >= 0) fail({.rule = violation::axis_is_mapped, .axis = code_.mesh().axes[axis].label});
    return element;
  }
  [[nodiscard]] constexpr batched_value whole_tensor(value_id i) {
    if (is_mapped(i)) return whole(i);
    return {filled(i), false};
  }
  /// Returns a tensor filled with a number.
  [[nodiscard]] constexpr value_id filled(value_id i) {
    if (!is_constant(*code_[i].what)) return i;
    const tensor_desc result = code_.value(i);
    return code_.append(operation_of<pointwise<functions::identity>>, {}, {i}, result);
  }

  /// Appends a custom gradient of the whole batch; the gradient of an argument that all elements
  /// share is the sum over the batch.
  [[nodiscard]] constexpr value_id append_custom(value_id i, const value_ids& read,
                                                 const attributes& how) {
    value_ids all;
    if (custom_gradient_operation::is_of_results(how)) {
      for (value_id o : read) all.push_back(is_mapped(o) ? whole(o).id : o);
    } else {
      const value_id of = whole(read[0]).id;
      value_id given = whole(read[1]).id;
      if (is_mapped(read[0]) && !is_mapped(read[1])) given = result(read[1]);
      if (!is_mapped(read[0]) && is_mapped(read[1]))
        given = code_.emit(operation_of<reduction_operation>,
                           reduction_operation::how(reduction::sum, 1, false), {given});
      all = {of, given, whole(read[2]).id};
    }
    const tensor_desc nothing = code_.value(i);
    return code_.append(operation_of<custom_gradient_operation>, how, all, nothing);
  }

  program_builder& code_;
  value_id begin_;
  value_id end_;
  batch_dim batch_;
};

}  // namespace shardwise
