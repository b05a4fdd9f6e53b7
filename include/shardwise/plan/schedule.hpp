// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/cluster.hpp"

namespace shardwise {

namespace detail {

/// Walks over a program from values to what they read, and notes the passes that it has completed.
class schedule_walk {
 public:
  constexpr schedule_walk(const program_view& program, cluster_note* notes,
                          value_id* order) noexcept
      : program_(program), notes_(notes), order_(order) {}

  /// Completes the pass of a value, and before it all that the pass needs, from left to right.
  constexpr void complete(value_id value) noexcept {
    if (!enter(value, -1)) return;
    for (value_id at = value; at != -1;) {
      cluster_note& note = notes_[at];
      const value_ids& operands = program_.code[at].operands;
      if (note.next_operand < operands.ssize()) {
        const value_id operand = operands[note.next_operand++];
        if (enter(operand, at)) at = operand;
      } else {
        if (note.root == at) order_[count_++] = at;
        at = note.visited_from;
      }
    }
  }
  /// How many passes are complete.
  [[nodiscard]] constexpr std::int32_t count() const noexcept { return count_; }

 private:
  /// Begins with a value, unless nothing computes it or that has begun already.
  constexpr bool enter(value_id value, value_id from) noexcept {
    cluster_note& note = notes_[value];
    if (program_.what(value).is_leaf || note.next_operand >= 0) return false;
    note.next_operand = 0;
    note.visited_from = from;
    return true;
  }

  const program_view& program_;
  cluster_note* notes_;
  value_id* order_;
  std::int32_t count_ = 0;
};

}  // namespace detail

/// Decides in which order the passes and other operations of a program run, the only place where
/// that is decided: writes their last instructions to `order` and returns how many there are.
///
/// Values that the program named and read run in the order in which it wrote them, and then its
/// results in theirs. What they are made of runs right before them, from left to right: so the
/// order does not depend on which operand of a call a compiler evaluates first.
///
/// `notes` are those of `form_clusters`, used once; `order` has room for an entry for each
/// instruction.
constexpr std::int32_t schedule(const program_view& program, cluster_note* notes,
                                value_id* order) noexcept {
  detail::schedule_walk walk(program, notes, order);
  for (value_id i = 0; i < program.count; ++i) {
    const bool is_read = notes[i].reader != -1 || program.is_body;
    const bool is_named = program.code[i].named || notes[i].reader == several_readers;
    if (notes[i].root == i && is_read && is_named) walk.complete(i);
  }
  for (std::int32_t r = 0; r < program.result_count; ++r) walk.complete(program.results[r]);
  // What no result needs.
  for (value_id i = 0; i < program.count; ++i)
    if (notes[i].root == i) walk.complete(i);
  return walk.count();
}

}  // namespace shardwise
