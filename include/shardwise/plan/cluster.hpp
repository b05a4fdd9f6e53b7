// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/post_order.hpp"

namespace shardwise {

/// The highest number of tensors that one fused pass reads.
inline constexpr int max_fused_operands = 8;

/// Returns true if an elementwise operand may be computed inside the pass that reads it: it must
/// have the reader's shape, so that nothing is computed twice. Also used for static extents, where
/// `dyn` stands for a size other than 1.
[[nodiscard]] constexpr bool may_fuse(const extents_desc& operand,
                                      const extents_desc& reader) noexcept {
  if (operand.size() != reader.size()) return false;
  for (int d = 0; d < operand.ssize(); ++d)
    if (operand[d] == 1 && reader[d] != 1) return false;
  return true;
}

/// Returns true if there is room for the operands of a fused pass: those taken so far, its own, and
/// at least one for each remaining operand.
[[nodiscard]] constexpr bool has_room(std::size_t taken, std::size_t own,
                                      std::size_t to_come) noexcept {
  return taken + own + to_come <= std::size_t{max_fused_operands};
}

/// The reader of a value that several instructions read.
inline constexpr value_id several_readers = -2;

/// The pass in which the value of an instruction is computed: that of instruction `root`, which is
/// itself or an instruction that reads it. A pass is an elementwise computation, optionally
/// followed by a reduction, or a reduction alone.
struct cluster_note {
  value_id root = -1;
  /// True for a view that is not computed: its readers read its operand. It has no root.
  bool is_read_through = false;
  /// The views through which all readers of the value can read.
  views_read read_by = views_read::any;
  /// The only instruction that reads the value; -1 for none.
  value_id reader = -1;
  /// The number of tensors that the pass reads up to this value.
  std::int32_t leaves = 0;
  /// The state of the function that visits the values of passes now: first that of `schedule`,
  /// which visits each once.
  visit_state visit{};
};

/// Returns the value that a step reads for an operand: the operand of the views that are read
/// through.
[[nodiscard]] constexpr value_id value_read(const program_view& program, const cluster_note* notes,
                                            value_id operand) noexcept {
  while (notes[operand].is_read_through) operand = program.code[operand].operands[0];
  return operand;
}

namespace detail {

/// Returns true if the readers of a value, which are known, read its operand instead: it is an
/// unnamed view, all of them can read through it, and the operand needs no more memory than the
/// value unless there is only one reader.
[[nodiscard]] constexpr bool is_read_through(const program_view& program, const cluster_note* notes,
                                             value_id i) noexcept {
  const instruction& at = program.code[i];
  const operation& what = *at.what;
  const cluster_note& note = notes[i];
  if (what.view == nullptr || at.named || at.kept || note.reader == -1) return false;
  const attributes& how = program.how(i);
  const tensor_desc& operand = program.values[at.operands[0]];
  const tensor_desc& value = program.values[i];
  if (is_constant(program.what(at.operands[0]))) return false;
  if (how.each != nullptr || note.read_by == views_read::never) return false;
  if (note.read_by == views_read::of_rows && what.keeps_rows != nullptr && !what.keeps_rows(how))
    return false;
  if (!operand.layout.is_contiguous() || !value.layout.is_contiguous()) return false;
  if (what.views_contiguous && !have_same_shards(*program.mesh, operand, value)) return false;
  for (int d = 0; !what.views_split && d < operand.rank(); ++d)
    if (!operand.layout.dims[d].empty() && operand.rank() == value.rank() &&
        operand.extents[d] != value.extents[d])
      return false;
  return note.reader != several_readers ||
         bytes_per_device(*program.mesh, value) >= bytes_per_device(*program.mesh, operand);
}

/// Finds the views that are read through. Readers follow the values that they read.
constexpr void find_views(const program_view& program, cluster_note* notes,
                          const value_id* number) noexcept {
  for (value_id i = program.count - 1; i >= 0; --i) {
    if (number != nullptr && number[i] == -1) continue;
    const instruction& at = program.code[i];
    views_read reads = program.how(i).each == nullptr ? at.what->reads : views_read::never;
    if (is_read_through(program, notes, i)) {
      notes[i].is_read_through = true;
      notes[i].root = -1;
      reads = at.what->views_contiguous ? views_read::never : notes[i].read_by;
    }
    for (value_id o : at.operands)
      if (reads < notes[o].read_by) notes[o].read_by = reads;
  }
}

}  // namespace detail

/// Decides which instructions run as one pass; fusion is decided only here.
///
/// An elementwise value is fused into the pass of its reader if the program did not name it, no
/// other instruction reads it, it has the reader's shape, and the pass reads at most
/// `max_fused_operands` tensors. Operands are taken from left to right; numbers are part of their
/// readers.
///
/// A view, such as a transpose, that the program did not name is not computed at all if the steps
/// that read it can read its operand in place.
///
/// If `number` is given, instructions whose number is -1 are ignored: they read nothing, and their
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
  detail::find_views(program, notes, number);
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
  // Instructions follow their operands, so the last instruction of a pass is visited first.
  for (value_id i = program.count - 1; i >= 0; --i)
    if (notes[i].root >= 0) notes[i].root = notes[notes[i].root].root;
}

}  // namespace shardwise
