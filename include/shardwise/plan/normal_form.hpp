// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/program_builder.hpp"
#include "shardwise/plan/schedule.hpp"

#include <bit>

namespace shardwise {

namespace detail {

/// The number of an instruction that has no number in the normal form yet.
inline constexpr value_id not_needed = -1;
inline constexpr value_id not_placed = -2;
inline constexpr value_id was_placed = -3;

/// Orders the members of a program's passes as in its normal form.
class normal_order {
 public:
  /// `notes` are those of a program that is scheduled.
  constexpr normal_order(const program_view& program, cluster_note* notes, value_id* order,
                         value_id* number) noexcept
      : program_(program), notes_(notes), order_(order), number_(number) {}

  /// Places an instruction after the members of its pass, and the numbers, that it reads.
  constexpr void place(value_id i) noexcept {
    const auto state_of = [&](value_id at) -> visit_state& { return notes_[at].visit; };
    const auto enter = [&](value_id at, value_id reader) {
      if (number_[at] != not_placed) return false;
      const bool belongs = reader == -1 || is_constant(program_.what(at)) ||
                           notes_[at].is_read_through || notes_[at].root == notes_[reader].root;
      if (belongs) number_[at] = was_placed;
      return belongs;
    };
    const auto leave = [&](value_id at) { order_[count_++] = at; };
    post_order(program_, i, state_of, enter, leave);
  }
  /// Returns the number of instructions that have been placed.
  [[nodiscard]] constexpr std::int32_t count() const noexcept { return count_; }

 private:
  const program_view& program_;
  cluster_note* notes_;
  value_id* order_;
  value_id* number_;
  std::int32_t count_ = 0;
};

}  // namespace detail

/// Appends the normal form of a program to an empty one. Programs that run the same passes in the
/// same order have the same normal form: instructions that no kept value depends on are removed;
/// inputs come first, in the order of their first use; the other members of a pass, and the views
/// that it reads through, immediately precede its last instruction, in the post-order of its
/// operands from left to right; passes are in the order of `schedule`. Marks are kept, and called
/// bodies do not change.
///
/// `notes`, `passes`, `order` and `number` have room for an entry for each instruction; `number[i]`
/// becomes the number of value `i` in the normal form, or -1 if it was removed.
constexpr void normal_form(const program_view& program, cluster_note* notes, value_id* passes,
                           value_id* order, value_id* number, program_builder& to) {
  using detail::not_needed, detail::not_placed;
  for (value_id i = 0; i < program.count; ++i)
    number[i] = program.code[i].kept ? not_placed : not_needed;
  for (value_id i = program.count - 1; i >= 0; --i)
    if (number[i] != not_needed)
      for (value_id o : program.code[i].operands) number[o] = not_placed;
  form_clusters(program, notes, number);
  const std::int32_t pass_count = schedule_program(program, notes, passes);
  detail::normal_order members(program, notes, order, number);
  for (std::int32_t p = 0; p < pass_count; ++p) members.place(passes[p]);
  const std::int32_t count = members.count();

  to.place(*program.mesh);
  const auto append = [&](value_id i) {
    value_ids operands;
    for (value_id o : program.code[i].operands) operands.push_back(number[o]);
    const operation& what = program.what(i);
    if (is_call(what))
      number[i] = to.append(what, call_operation::how(to.adopt(program.callee(i))), operands,
                            program.values[i]);
    else
      number[i] = to.append(what, program.how(i), operands, program.values[i]);
    to.mark(number[i], program.code[i]);
  };
  for (std::int32_t k = 0; k < count; ++k)
    for (value_id o : program.code[order[k]].operands)
      if (number[o] == not_placed) append(o);
  // Inputs that are kept but that no instruction reads.
  for (value_id i = 0; i < program.count; ++i)
    if (number[i] == not_placed) append(i);
  for (std::int32_t k = 0; k < count; ++k) append(order[k]);
  for (std::int32_t r = 0; r < program.result_count; ++r) to.keep(number[program.results[r]]);
}

/// Returns the normal form of a program.
///
///     constexpr auto doubled = [](const auto& x) { return x + x; };
///     constexpr auto recorded = trace_program(doubled, abstract<X>(512));
///     static_assert(normal_form(recorded) == recorded);
template <std::size_t Capacity>
[[nodiscard]] constexpr traced_program<Capacity> normal_form(
    const traced_program<Capacity>& recorded) {
  traced_program<Capacity> out;
  program_builder to(out);
  cluster_note notes[Capacity]{};
  value_id passes[Capacity]{};
  value_id order[Capacity]{};
  value_id number[Capacity]{};
  normal_form(recorded.view(), notes, passes, order, number, to);
  return out;
}

namespace internal {

/// Mixes words into 64 bits: inputs that differ in a single word never have the same hash.
class word_hash {
 public:
  constexpr void add(std::uint64_t word) noexcept {
    bits_ = (bits_ ^ word) * 0x9e3779b97f4a7c15U;
    bits_ ^= bits_ >> 32U;
  }
  constexpr void add(text_view words) noexcept {
    add(words.size());
    for (char c : words) add(static_cast<unsigned char>(c));
  }
  template <std::integral T, std::size_t Capacity>
  constexpr void add(const inplace_vector<T, Capacity>& numbers) noexcept {
    add(numbers.size());
    for (T number : numbers) add(static_cast<std::uint64_t>(number));
  }
  constexpr void add(const mesh_desc& mesh) noexcept {
    add(mesh.axes.size());
    for (const axis_desc& axis : mesh.axes) {
      add(text_view(axis.label));
      add(static_cast<std::uint64_t>(axis.size));
    }
    // Without a list, the order is that of the device numbers, which may also be listed explicitly.
    const device_numbers devices = mesh.order.devices();
    bool is_usual = true;
    for (index_t i = 0; i < devices.ssize(); ++i) is_usual = is_usual && devices[i] == i;
    if (is_usual) return;
    for (index_t device : devices) add(static_cast<std::uint64_t>(device));
  }
  constexpr void add(const tensor_desc& tensor) noexcept {
    const layout_desc& layout = tensor.layout;
    add(tensor.extents);
    add(layout.dims.size());
    for (const axis_list& axes : layout.dims) add(axes);
    for (grain how : layout.grains) add(static_cast<std::uint64_t>(how.code));
    add(static_cast<std::uint64_t>(tensor.type));
    add(layout.pending);
    add(static_cast<std::uint64_t>(layout.kind));
    add(layout.uneven ? 1U : 0U);
    add(layout.manual);
  }
  constexpr void add(const attributes& how) noexcept {
    add(how.integers);
    add(std::bit_cast<std::uint64_t>(how.number));
    add(static_cast<std::uint64_t>(how.kind));
    add(text_view(how.words));
    if (how.each == nullptr) return;
    add(how.each->id);
    add(how.batches);
  }
  /// Adds the code of a program, with that of the bodies that it calls.
  constexpr void add(const program_view& program) noexcept {
    add(static_cast<std::uint64_t>(program.count));
    for (value_id i = 0; i < program.count; ++i) {
      const instruction& at = program.code[i];
      add(at.what->id);
      if (is_call(*at.what))
        add(program.callee(i));
      else
        add(program.how(i));
      add(at.operands);
      add((at.named ? 1U : 0U) | (at.kept ? 2U : 0U) | (at.donated ? 4U : 0U));
      add(program.values[i]);
    }
    add(static_cast<std::uint64_t>(program.result_count));
    for (std::int32_t r = 0; r < program.result_count; ++r)
      add(static_cast<std::uint64_t>(program.results[r]));
  }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }

 private:
  std::uint64_t bits_ = 14695981039346656037U;
};

}  // namespace internal

/// Returns a hash of everything that the comparison of programs compares, the same for every
/// compiler and at run time. To identify programs independently of their order, hash their normal
/// forms.
[[nodiscard]] constexpr std::uint64_t hash_of(const program_view& program) noexcept {
  internal::word_hash hash;
  hash.add(*program.mesh);
  hash.add(program);
  return hash.bits();
}

}  // namespace shardwise
