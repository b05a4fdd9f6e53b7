// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/cluster.hpp"

namespace shardwise {

namespace detail {

/// Visits the operands of values in a program, and records the passes in the order in which they
/// are completed.
class schedule_walk {
 public:
  constexpr schedule_walk(const program_view& program, cluster_note* notes,
                          value_id* order) noexcept
      : program_(program), notes_(notes), order_(order) {}

  /// Completes the pass of a value after all passes that it depends on, from left to right.
  constexpr void complete(value_id value) noexcept {
    const auto state_of = [&](value_id i) -> visit_state& { return notes_[i].visit; };
    // A value that needs computation, and has not been visited yet.
    const auto enter = [&](value_id i, value_id) {
      return !program_.what(i).is_leaf && notes_[i].visit.next_operand < 0;
    };
    const auto leave = [&](value_id i) {
      if (notes_[i].root == i) order_[count_++] = i;
    };
    post_order(program_, value, state_of, enter, leave);
  }
  /// Returns the number of completed passes.
  [[nodiscard]] constexpr std::int32_t count() const noexcept { return count_; }

 private:
  const program_view& program_;
  cluster_note* notes_;
  value_id* order_;
  std::int32_t count_ = 0;
};

}  // namespace detail

/// Decides the order in which the passes and other operations of a program run, which is decided
/// only here: writes their last instructions to `order` and returns their number.
///
/// Values that the program named and reads run in the order of the program, followed by its results
/// in their order. Each is immediately preceded by the values that it depends on, from left to
/// right, so the order does not depend on the order in which a compiler evaluates the arguments of
/// a call.
///
/// `notes` are those of `form_clusters` and can be used once; `order` has room for an entry for
/// each instruction.
constexpr std::int32_t schedule_program(const program_view& program, cluster_note* notes,
                                        value_id* order) noexcept {
  detail::schedule_walk walk(program, notes, order);
  for (value_id i = 0; i < program.count; ++i) {
    const bool is_read = notes[i].reader != -1 || program.is_body;
    const bool is_named = program.code[i].named || notes[i].reader == several_readers;
    if (notes[i].root == i && is_read && is_named) walk.complete(i);
  }
  for (std::int32_t r = 0; r < program.result_count; ++r) walk.complete(program.results[r]);
  // Instructions that no result depends on.
  for (value_id i = 0; i < program.count; ++i)
    if (notes[i].root == i) walk.complete(i);
  return walk.count();
}

}  // namespace shardwise
