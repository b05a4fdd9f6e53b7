// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/mesh_reader.hpp"
#include "shardwise/notation/open_layout_text.hpp"
#include "shardwise/plan/inline_calls.hpp"
#include "shardwise/plan/layout_propagator.hpp"
#include "shardwise/plan/manual_operation.hpp"

#include <initializer_list>
#include <span>

namespace shardwise {

namespace detail {

/// Returns a tensor with the splits of an open layout, uneven where they do not divide it.
[[nodiscard]] constexpr tensor_desc laid_out(const mesh_desc& mesh, tensor_desc tensor,
                                             const open_layout& splits) noexcept {
  if (tensor.layout.dims == splits.dims && tensor.layout.pending == 0) return tensor;
  const layout_desc before = tensor.layout;
  tensor.layout = splits.layout();
  tensor.layout.manual = before.manual;
  for (int d = 0; d < before.rank(); ++d)
    if (before.dims[d] == splits.dims[d]) tensor.layout.grains[d] = before.grains[d];
  tensor.layout.uneven = !validate(mesh, tensor.layout, tensor.extents).ok();
  return tensor;
}

}  // namespace detail

/// A layout from which propagation starts: that of an input, of a result, or of any value of a
/// program, by number.
struct known_layout {
  enum where_t : std::uint8_t { input, result, value };

  where_t where = input;
  int number = 0;
  /// In the notation of `parse_open_layout`.
  text_view words{};
};

/// The layouts of the values of a program after propagation.
template <std::size_t Capacity>
struct propagated_layouts {
  /// The program, with its calls inlined.
  traced_program<Capacity> program{};
  /// The layout of each of its values.
  open_layout values[Capacity]{};

  /// Returns the layout of an input, by number.
  [[nodiscard]] constexpr const open_layout& input(int number) const noexcept {
    return values[input_of(number)];
  }
  /// Returns the layout of a result, by number.
  [[nodiscard]] constexpr const open_layout& result(int number = 0) const noexcept {
    return values[program.results[number]];
  }
  /// Returns a value of the program, by number, as a tensor with its layout.
  [[nodiscard]] constexpr tensor_desc tensor(value_id i) const noexcept {
    return detail::laid_out(program.mesh, program.values[i], values[i]);
  }
  /// Returns the number of the value whose layout is known, or -1.
  [[nodiscard]] constexpr value_id value_of(const known_layout& known) const noexcept {
    const int number = known.number;
    if (number < 0) return -1;
    if (known.where == known_layout::input) return input_of(number);
    if (known.where == known_layout::value) return number < program.count ? number : -1;
    return number < program.result_count ? program.results[number] : -1;
  }
  /// Returns the number of the value that is an input, or -1.
  [[nodiscard]] constexpr value_id input_of(int number) const noexcept {
    for (value_id i = 0; i < program.count; ++i)
      if (is_input(*program.code[i].what) && number-- == 0) return i;
    return -1;
  }
};

/// Writes the values of a program with their layouts, one per line.
///
///     %0 = input : [{"data"}, {?}]
///     %2 = einsum bi,ih->bh %0 %1 : [{"data", ?}, {"model", ?}]
template <TextSink Out, std::size_t Capacity>
constexpr Out& write_layouts(Out& sink, const propagated_layouts<Capacity>& found) {
  internal::text_out<Out> out(sink);
  const program_view program = found.program.view();
  for (value_id i = 0; i < program.count; ++i) {
    out << '%' << index_t{i} << " = " << text_view(label_of(program.what(i), program.how(i)));
    for (value_id o : program.code[i].operands) out << " %" << index_t{o};
    out << " : " << text_view(to_text(*program.mesh, found.values[i])) << '\n';
  }
  return sink;
}

/// Propagates layouts through a traced program: from those that are known, from the inputs of the
/// program that are split, from its reshards, and from where manual sharding begins and ends, to
/// all of its values.
///
///     constexpr auto step = trace_program(mlp, abstract<X>(512), abstract<W1>(), abstract<W2>());
///     constexpr auto found = propagate_layouts(
///         step, {{known_layout::input, 0, "[{\"data\"}, {?}]"},
///                {known_layout::input, 1, "[{?}, {\"model\"}]"}});
///     to_text(step.mesh, found.input(2));        // [{"model", ?}, {?}]
///
/// Throws `error` for a text that is malformed, for an input, result or value that the program does
/// not have, and for a layout of another rank. What is known may also be a `std::span`, of a vector
/// for instance. `with_layouts(found)` is the program with these layouts.
template <std::size_t Capacity>
[[nodiscard]] constexpr propagated_layouts<Capacity> propagate_layouts(
    const traced_program<Capacity>& program, std::span<const known_layout> known,
    const propagation_options& options = {}) {
  propagated_layouts<Capacity> out;
  value_id number[Capacity]{};
  program_builder code(out.program);
  inline_calls(program.view(), number, code);
  const program_view view = out.program.view();
  for (value_id i = 0; i < view.count; ++i) {
    out.values[i] = open_layout::unknown(view.values[i].rank());
    if (is_input(view.what(i))) out.values[i] = open_layout::at_least(view.values[i].layout);
    if (view.what(i) == operation_of<collective_operation> ||
        view.what(i) == operation_of<manual_operation>)
      out.values[i] = open_layout::exactly(view.values[i].layout);
    out.values[i].replicated |= view.values[i].layout.manual;
  }
  for (const known_layout& given : known) {
    const read_open_layout read = parse_open_layout(given.words, *view.mesh);
    internal::require_read(read.verdict, given.words);
    const value_id at = out.value_of(given);
    if (at < 0) {
      constexpr text_view names[] = {"input", "result", "value"};
      bounded_text<60> reason;
      reason << "the program has no " << names[given.where] << ' ' << index_t{given.number};
      internal::require_read({0, text_view(reason)}, given.words);
    }
    if (read.layout.rank() != view.values[at].rank())
      fail({.rule = violation::rank_differs_from_spec,
            .have = read.layout.rank(),
            .want = view.values[at].rank()});
    out.values[at] = read.layout;
    out.values[at].replicated |= view.values[at].layout.manual;
  }
  open_layout original[Capacity]{};
  detail::propagation_note notes[Capacity]{};
  propagate_layouts(view, out.values, original, notes, options);
  return out;
}
template <std::size_t Capacity>
[[nodiscard]] constexpr propagated_layouts<Capacity> propagate_layouts(
    const traced_program<Capacity>& program, std::initializer_list<known_layout> known = {},
    const propagation_options& options = {}) {
  return propagate_layouts(program, std::span(known.begin(), known.size()), options);
}

}  // namespace shardwise
