// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/program_builder.hpp"

namespace shardwise {

/// Returns an upper bound for the number of instructions of a program after its calls are inlined.
[[nodiscard]] constexpr std::int32_t inlined_size(const program_view& program) noexcept {
  std::int32_t size = program.count;
  for (value_id i = 0; i < program.count; ++i)
    if (is_call(program.what(i))) size += inlined_size(program.callee(i));
  return size;
}

namespace detail {

/// Inlines the calls of a program, level by level.
class call_inliner {
 public:
  constexpr explicit call_inliner(program_builder& to) noexcept : to_(to) {}

  /// Appends a program; `number[i]` becomes the number of value `i`, unless it is already set to
  /// something other than -1. `scratch` has room for the values of all called bodies.
  constexpr void append(const program_view& program, value_id* number, value_id* scratch) {
    for (value_id i = 0; i < program.count; ++i) {
      if (number[i] != -1) continue;
      value_ids operands;
      for (value_id o : program.code[i].operands) operands.push_back(number[o]);
      if (is_call(program.what(i))) {
        append_call(program, i, operands, number, scratch);
        continue;
      }
      number[i] = to_.append(program.what(i), program.how(i), operands, program.values[i]);
      to_.mark(number[i], program.code[i]);
    }
  }

 private:
  constexpr void append_call(const program_view& program, value_id call, const value_ids& operands,
                             value_id* number, value_id* scratch) {
    const program_view body = program.callee(call);
    for (value_id i = 0; i < body.count; ++i) scratch[i] = -1;
    int next = 0;
    for (value_id i = 0; i < body.count; ++i)
      if (is_input(body.what(i))) scratch[i] = operands[next++];
    append(body, scratch, scratch + body.count);
    number[call] = scratch[body.results[0]];
    for (value_id i = call + 1; i < program.count; ++i)
      if (is_result(program.what(i)) && program.code[i].operands[0] == call)
        number[i] = scratch[body.results[result_operation::number(program.how(i))]];
  }

  program_builder& to_;
};

}  // namespace detail

/// Appends a program to an empty one, with each call replaced by the body that it calls. The result
/// equals, up to its normal form, the program to which a run of the same function is lowered.
/// `number` has room for `inlined_size` values.
constexpr void inline_calls(const program_view& program, value_id* number, program_builder& to) {
  to.place(*program.mesh);
  for (value_id i = 0; i < program.count; ++i) number[i] = -1;
  detail::call_inliner(to).append(program, number, number + program.count);
  for (std::int32_t r = 0; r < program.result_count; ++r) to.keep(number[program.results[r]]);
}

}  // namespace shardwise
