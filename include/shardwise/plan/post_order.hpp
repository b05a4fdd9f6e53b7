// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/program.hpp"

namespace shardwise {

/// The state of a value that `post_order` visits: the next of its operands to visit, and the value
/// that reads it, from which it was reached; -1 for none.
struct visit_state {
  std::int32_t next_operand = -1;
  value_id reader = -1;
};

/// Visits a value and the values that it reads, each after its operands, from left to right. It
/// needs no stack, since programs may be chains of any length: the states hold the way back.
///
/// `enter(i, reader)` returns true if value `i`, an operand of `reader`, or of nothing for -1, is
/// to be visited now; `leave(i)` is called after its operands. `state_of(i)` is the state of a
/// value, which is set when the value is entered and is not needed after it has been left.
template <class StateOf, class Enter, class Leave>
constexpr void post_order(const program_view& program, value_id value, const StateOf& state_of,
                          const Enter& enter, const Leave& leave) {
  if (!enter(value, value_id{-1})) return;
  state_of(value) = visit_state{0, -1};
  for (value_id at = value; at != -1;) {
    visit_state& state = state_of(at);
    const value_ids& operands = program.code[at].operands;
    if (state.next_operand < operands.ssize()) {
      const value_id operand = operands[state.next_operand++];
      if (!enter(operand, at)) continue;
      state_of(operand) = visit_state{0, at};
      at = operand;
    } else {
      const value_id reader = state.reader;
      leave(at);
      at = reader;
    }
  }
}

}  // namespace shardwise
