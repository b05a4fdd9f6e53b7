// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/program.hpp"

namespace shardwise {

namespace internal {

/// Writes a number with at most six decimal places and without trailing zeros.
template <std::size_t Capacity>
constexpr void write_number(bounded_text<Capacity>& out, double number) {
  if (number != number) {
    out << "nan";
    return;
  }
  if (number < 0) out << '-';
  const double size = number < 0 ? -number : number;
  if (size > 9e15) {
    out << "large";
    return;
  }
  auto whole = static_cast<index_t>(size);
  const double millionths = (size - static_cast<double>(whole)) * 1e6;
  auto rest = static_cast<index_t>(millionths);
  if (millionths - static_cast<double>(rest) >= 0.5) ++rest;
  if (rest == 1000000) {
    ++whole;
    rest = 0;
  }
  out << whole;
  if (rest == 0) return;
  out << '.';
  for (index_t digit = 100000; rest > 0; digit /= 10) {
    out << rest / digit;
    rest %= digit;
  }
}

/// Writes the number of a constant instruction.
template <std::size_t Capacity>
constexpr void write_constant(bounded_text<Capacity>& out, const attributes& how) {
  if (how.integers.empty())
    write_number(out, how.number);
  else
    out << how.integers[0];
}

/// Writes one instruction without the end of the line; `mark` follows its number.
template <class Out>
constexpr void write_instruction(Out& out, const program_view& program, value_id i,
                                 text_view mark = "") {
  const instruction& at = program.code[i];
  const attributes& how = program.how(i);
  bounded_text<600> line;
  line << '%' << i << mark << " = " << text_view(label_of(*at.what, how));
  if (is_constant(*at.what)) write_constant(line << ' ', how);
  for (value_id o : at.operands) line << " %" << o;
  line << " : " << text_view(to_text(*program.mesh, program.values[i]));
  out << text_view(line);
}
/// Writes the instructions of a program, or of a body.
template <class Out>
constexpr void write_code(Out& out, const program_view& program) {
  for (value_id i = 0; i < program.count; ++i) {
    const instruction& at = program.code[i];
    write_instruction(out, program, i, at.kept ? "**" : at.named ? "*" : "");
    out << text_view("\n");
  }
}

}  // namespace internal

/// Writes the recorded instructions of a program, one per line: the number of the value, the
/// operation with its attributes, its operands, and its type. Named values are marked by a star,
/// kept ones by two. The called bodies follow, each with its number.
///
/// `Out` must have `operator<<` for `text_view`: a `bounded_text` in constant expressions, or any
/// stream.
///
///     %2 = constant 2 : f32[]
///     %3* = * %0 %2 : f32[8@data, 4]
template <class Out>
constexpr void write_instructions(Out& out, const program_view& program) {
  internal::write_code(out, program);
  for (std::int32_t k = 0; k < program.body_count; ++k) {
    bounded_text<40> head;
    head << "body " << k << ":\n";
    out << text_view(head);
    internal::write_code(out, program.body(k));
  }
}

}  // namespace shardwise
