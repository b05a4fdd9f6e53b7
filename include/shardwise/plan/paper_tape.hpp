// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/abstract.hpp"
#include "shardwise/plan/append_gradients.hpp"

namespace shardwise::internal {

/// Differentiates functions of the tensors of a domain: a class that records a function.
template <class Domain>
struct tape_of;

/// Records a function of abstract tensors in their program, followed by its gradient.
class paper_tape {
 public:
  template <class X>
  constexpr explicit paper_tape(const X& first) : code_(first.program()) {
    if (code_ == nullptr) return;
    begin_ = code_->end();
    wrote_calls_out_ = code_->write_calls_out(true);
  }

  /// The type of a result of the function afterwards.
  template <class X>
  using settled = X;

  /// Returns the tensor that represents an argument when the function is called; `wanted` states
  /// whether its gradient is needed.
  template <class X>
  [[nodiscard]] constexpr X argument(const X& x, bool wanted) {
    if (code_ == nullptr) return x;
    const value_id id = code_->append(operation_of<argument_operation>, {}, {x.id_in(*code_)},
                                      x.known(paper_of<X>::value));
    if (wanted) add(wanted_, id);
    return X{x.in(code_, id)};
  }
  /// Records a result of the function; the first is the loss.
  template <class X>
  constexpr void result(const X& x) {
    if (code_ != nullptr) add(results_, x.id_in(*code_));
  }
  /// Appends the gradients.
  constexpr void differentiate(bool keeps_loss, gradient_layout_function layout_of) {
    if (code_ == nullptr) return;
    code_->write_calls_out(wrote_calls_out_);
    const cotangent_seed loss{results_[0]};
    made_ = wanted_;
    append_gradients(*code_, begin_.code, {&loss, 1}, {made_.begin(), made_.size()}, layout_of);
    for (int r = keeps_loss ? 0 : 1; r < results_.ssize(); ++r) made_.push_back(results_[r]);
    code_->keep_needed(begin_, made_.begin(), made_.ssize());
    for (value_id i : made_) code_->name(i);
  }
  /// Returns the next gradient or, after these, the next result, with type `Made`, for `x`.
  template <class Made, class X>
  [[nodiscard]] constexpr Made next(const X& x) {
    return Made{x.in(code_, code_ == nullptr ? -1 : made_[next_++])};
  }

 private:
  using ids = inplace_vector<value_id, 192>;

  static constexpr void add(ids& to, value_id i) {
    if (to.ssize() >= 96) fail({.rule = violation::program_is_too_long, .have = 97, .want = 96});
    to.push_back(i);
  }

  program_builder* code_;
  program_builder::position begin_{};
  bool wrote_calls_out_ = false;
  ids wanted_, results_, made_;
  int next_ = 0;
};
template <>
struct tape_of<abstract_domain> {
  using type = paper_tape;
};

}  // namespace shardwise::internal
