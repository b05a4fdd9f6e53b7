// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/program.hpp"

namespace shardwise {

/// The highest number of tensors that one fused pass reads.
inline constexpr int max_fused_operands = 8;

/// True if an elementwise operand may be computed inside the pass that reads it: it has the
/// reader's shape, so nothing is computed twice. Asked of static extents too, where `dyn` stands
/// for a size that is not 1.
[[nodiscard]] constexpr bool may_fuse(const extents_desc& operand,
                                      const extents_desc& reader) noexcept {
  if (operand.size() != reader.size()) return false;
  for (int d = 0; d < operand.ssize(); ++d)
    if (operand[d] == 1 && reader[d] != 1) return false;
  return true;
}

/// True if the operands of an absorbed pass still fit: those taken so far, its own, and at least
/// one for each operand to come.
[[nodiscard]] constexpr bool has_room(std::size_t taken, std::size_t own,
                                      std::size_t to_come) noexcept {
  return taken + own + to_come <= std::size_t{max_fused_operands};
}

/// The reader of a value that several instructions read.
inline constexpr value_id several_readers = -2;

/// Where the value of an instruction is computed: in the pass of instruction `root`, its own or one
/// that reads it. A pass is an elementwise computation, with a reduction after it or alone.
struct cluster_note {
  value_id root = -1;
  /// The one instruction that reads the value; -1 for none.
  value_id reader = -1;
  /// How many tensors the pass up to this value reads.
  std::int32_t leaves = 0;
  /// Where `schedule` stands with the value: the operand that it looks at next, -1 before the
  /// first, and the reader that it came from.
  std::int32_t next_operand = -1;
  value_id visited_from = -1;
};

/// Decides which instructions run as one pass: the only place where fusion is decided.
///
/// An elementwise value goes into the pass of its reader if the program gave it no name, nobody
/// else reads it, it has the reader's shape, and the tensors that the pass reads stay within
/// `max_fused_operands`. Operands are taken left to right; numbers are part of whatever reads them.
///
/// Where `number` is given, instructions of number -1 are not there: they read nothing, and their
/// root is -1.
constexpr void form_clusters(const program_view& program, cluster_note* notes,
                             const value_id* number = nullptr) noexcept {
  for (value_id i = 0; i < program.count; ++i) {
    const bool is_there = number == nullptr || number[i] != -1;
    notes[i] = {.root = is_there ? i : -1};
    if (!is_there) continue;
    for (value_id o : program.code[i].operands) {
      value_id& reader = notes[o].reader;
      reader = reader == -1 || reader == i ? i : several_readers;
    }
  }
  for (value_id i = 0; i < program.count; ++i) {
    const instruction& at = program.code[i];
    const bool reduces = at.what->takes_prologue;
    if (!at.what->is_elementwise && !reduces) continue;
    const extents_desc& extents = program.values[reduces ? at.operands[0] : i].extents;
    std::size_t to_come = 0;
    for (value_id o : at.operands) to_come += is_constant(program.what(o)) ? 0U : 1U;
    std::size_t taken = 0;
    for (value_id o : at.operands) {
      const instruction& operand = program.code[o];
      if (is_constant(*operand.what)) continue;
      --to_come;
      const auto own = static_cast<std::size_t>(notes[o].leaves);
      const bool absorbed = operand.what->is_elementwise && !operand.named && !operand.kept &&
                            notes[o].reader == i && may_fuse(program.values[o].extents, extents) &&
                            has_room(taken, own, to_come);
      if (absorbed) notes[o].root = i;
      taken += absorbed ? own : 1U;
    }
    notes[i].leaves = static_cast<std::int32_t>(taken);
  }
  // What reads is after what it reads, so the last instruction of a pass is known first.
  for (value_id i = program.count - 1; i >= 0; --i)
    if (notes[i].root >= 0) notes[i].root = notes[notes[i].root].root;
}

}  // namespace shardwise
