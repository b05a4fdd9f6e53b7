// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/structure.hpp"

namespace shardwise {

/// An application of an operation: the values that it reads, its attributes, and the type of its
/// result. The number of the instruction identifies the value.
struct instruction {
  const operation* what = nullptr;
  /// The index of its attributes in the program's table.
  std::int32_t how = 0;
  value_ids operands{};
  /// True if the program named the value, so that its readers do not compute it again.
  bool named = false;
  /// True if the caller of the program keeps the value under a name.
  bool kept = false;
  /// True for an input whose memory the program may reuse.
  bool donated = false;
  /// True if gradients compute the value again instead of keeping it.
  bool recomputed = false;
  /// Temporary notes that a function on programs stores for the value, and values to which it links
  /// the value; not part of the program.
  std::int32_t note = 0;
  value_id next = -1;
  value_id again = -1;
};

/// A sub-program that instructions of a program call: which of the program's instructions and
/// results belong to it. They follow those of the program, and its values are numbered from 0.
struct program_body {
  value_id first = 0;
  std::int32_t count = 0;
  std::int32_t first_result = 0;
  std::int32_t result_count = 0;
  /// The same code as a constant of static storage duration, which identifies it; or null.
  const instruction* constant = nullptr;
};

/// A non-owning view of a program, which functions on programs read. Its instructions are unfused
/// and in an order in which they can run; equal programs compute the same.
struct program_view {
  const mesh_desc* mesh = nullptr;
  const instruction* code = nullptr;
  const tensor_desc* values = nullptr;
  const attributes* table = nullptr;
  std::int32_t count = 0;
  /// The values that the caller of the program keeps, in the order of the results.
  const value_id* results = nullptr;
  std::int32_t result_count = 0;
  /// The bodies that it and they call.
  const program_body* bodies = nullptr;
  std::int32_t body_count = 0;
  /// The position of `code` and `results` in those of the program to which the bodies belong.
  value_id first = 0;
  std::int32_t first_result = 0;
  /// True for a body: the readers of its results are elsewhere.
  bool is_body = false;

  /// Returns one of the bodies as a program.
  [[nodiscard]] constexpr program_view body(std::int32_t k) const noexcept {
    const program_body& at = bodies[k];
    return {mesh,
            code + (at.first - first),
            values + (at.first - first),
            table,
            at.count,
            results + (at.first_result - first_result),
            at.result_count,
            bodies,
            body_count,
            at.first,
            at.first_result,
            true};
  }
  /// Returns the body that an instruction calls.
  [[nodiscard]] constexpr program_view callee(value_id i) const noexcept {
    return body(call_operation::body(how(i)));
  }
  [[nodiscard]] constexpr const operation& what(value_id i) const noexcept { return *code[i].what; }
  [[nodiscard]] constexpr const attributes& how(value_id i) const noexcept {
    return table[code[i].how];
  }
  /// Returns the types of the operands of an instruction.
  [[nodiscard]] constexpr tensor_descs operands(value_id i) const noexcept {
    tensor_descs all;
    for (value_id o : code[i].operands) all.push_back(values[o]);
    return all;
  }

  friend constexpr bool operator==(const program_view& a, const program_view& b) noexcept {
    return *a.mesh == *b.mesh && have_same_code(a, b);
  }
  /// Returns true if two programs have the same instructions and results, whatever the numbers of
  /// the bodies that they call.
  [[nodiscard]] static constexpr bool have_same_code(const program_view& a,
                                                     const program_view& b) noexcept {
    if (a.count != b.count || a.result_count != b.result_count) return false;
    for (std::int32_t r = 0; r < a.result_count; ++r)
      if (a.results[r] != b.results[r]) return false;
    for (value_id i = 0; i < a.count; ++i) {
      const instruction& x = a.code[i];
      const instruction& y = b.code[i];
      if (!(*x.what == *y.what) || x.operands != y.operands || x.named != y.named ||
          x.kept != y.kept || x.donated != y.donated || x.recomputed != y.recomputed ||
          a.values[i] != b.values[i])
        return false;
      if (is_call(*x.what) ? !have_same_code(a.callee(i), b.callee(i)) : !(a.how(i) == b.how(i)))
        return false;
    }
    return true;
  }
};

/// A program of at most `Capacity` instructions over one mesh, as a value: the result of
/// `trace_program`, also in constant expressions.
template <std::size_t Capacity>
struct traced_program {
  mesh_desc mesh{};
  instruction code[Capacity]{};
  tensor_desc values[Capacity]{};
  /// The attributes of the instructions; the first entry is for instructions without attributes.
  attributes table[Capacity + 1]{};
  value_id results[Capacity]{};
  std::int32_t count = 0;
  std::int32_t attribute_count = 1;
  std::int32_t result_count = 0;
  program_body bodies[Capacity / 16 + 1]{};
  std::int32_t body_count = 0;

  [[nodiscard]] constexpr program_view view() const noexcept {
    return {&mesh, code, values, table, count, results, result_count, bodies, body_count};
  }
  template <std::size_t Other>
  friend constexpr bool operator==(const traced_program& a,
                                   const traced_program<Other>& b) noexcept {
    return a.view() == b.view();
  }
};

}  // namespace shardwise
