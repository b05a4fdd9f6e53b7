// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lower_collectives.hpp"
#include "shardwise/export/operation_export.hpp"
#include "shardwise/plan/listing.hpp"
#include "shardwise/plan/manual_operation.hpp"

#include <string>
#include <utility>
#include <vector>

namespace shardwise::internal {

/// Writes the instructions of one function, one after the other.
class instruction_export {
 public:
  instruction_export(const program_view& program, export_state& state, mlir_builder& text)
      : program_(program),
        state_(state),
        text_(text),
        values_(static_cast<std::size_t>(program.count)),
        reads_(values_.size(), 0) {
    for (value_id i = 0; i < program.count; ++i)
      for (const value_id o : program.code[i].operands) ++reads_[at(o)];
  }

  [[nodiscard]] const mlir_value& value(value_id i) const noexcept { return values_[at(i)][0]; }
  [[nodiscard]] bool is_written(value_id i) const noexcept { return !values_[at(i)].empty(); }
  void set(value_id i, mlir_values all) { values_[at(i)] = std::move(all); }
  [[nodiscard]] mlir_builder& text() noexcept { return text_; }

  [[nodiscard]] mlir_type type_of(value_id i) {
    current_ = i;
    return type_of(program_.values[i]);
  }
  [[nodiscard]] mlir_type type_of(const tensor_desc& tensor) {
    mlir_type out{mlir_element(tensor.type), tensor.extents};
    if (tensor.extents.contains(dyn)) refuse("an extent is known only at run time");
    if (!state_.is_per_device() || !state_.ok()) return out;
    std::string why;
    out.extents = local_extents(*program_.mesh, tensor, why);
    if (!why.empty()) refuse(why);
    return out;
  }
  [[nodiscard]] std::string argument_attribute(const tensor_desc& tensor) {
    return state_.is_per_device() ? std::string{}
                                  : said(state_.attributes.of_argument(tensor.layout));
  }
  /// Writes one instruction, whose operands have been written.
  void write(value_id i) {
    current_ = i;
    const operation& what = program_.what(i);
    if (is_constant(what)) return set(i, {constant(i)});
    if (is_result(what)) return write_result(i);
    if (is_call(what)) return write_call(i);
    if (is_custom_gradient(what)) return set(i, {mlir_value{}});
    if (what.id == operation_of<manual_operation>.id) return write_manual(i);
    if (what.id == operation_of<collective_operation>.id) return write_reshard(i);
    if (what.id == operation_of<manual_collective_operation>.id) return write_collective(i);
    write_operation(i);
  }
  /// Writes a number. Regions of Shardy have numbers of their own.
  [[nodiscard]] mlir_value constant(value_id i) {
    const attributes& how = program_.how(i);
    const std::string_view element = mlir_element(program_.values[i].type);
    stablehlo_ops at(text_);
    return how.integers.empty() ? at.scalar(how.number, element)
                                : at.scalar(how.integers[0], element);
  }
  void refuse(const std::string& why) {
    if (!state_.ok()) return;
    bounded_text<600> line;
    write_instruction(line, program_, current_);
    state_.refusal = std::string(text_view(line).data(), text_view(line).size()) + ": " + why;
  }

  /// Returns the manual axes of the values that an instruction reads or computes, a bit each.
  [[nodiscard]] unsigned manual_axes(value_id i) const noexcept {
    unsigned out = program_.values[i].layout.manual;
    for (const value_id o : program_.code[i].operands) out |= program_.values[o].layout.manual;
    return out;
  }

 private:
  [[nodiscard]] static std::size_t at(value_id i) noexcept { return static_cast<std::size_t>(i); }
  std::string said(std::string attribute) {
    if (!state_.attributes.refusal().empty()) refuse(state_.attributes.refusal());
    return attribute;
  }
  [[nodiscard]] bool is_sdy() const noexcept { return state_.attributes.is_sdy(); }

  void write_result(value_id i) {
    const auto number = static_cast<std::size_t>(result_operation::number(program_.how(i)));
    const mlir_values& all = values_[at(program_.code[i].operands[0])];
    if (number >= all.size()) return refuse("the operation has no such result here");
    set(i, {all[number]});
  }
  void write_call(value_id i) {
    const program_view body = program_.callee(i);
    std::vector<mlir_type> types;
    types.reserve(static_cast<std::size_t>(body.result_count));
    for (std::int32_t r = 0; r < body.result_count; ++r)
      types.push_back(type_of(body.values[body.results[r]]));
    mlir_values read;
    for (const value_id o : program_.code[i].operands) read.push_back(value(o));
    const auto number = call_operation::body(program_.how(i));
    set(i, text_.append("func.call", read, types, "callee = @body_" + std::to_string(number), {}));
  }

  /// A request for a layout: the same elements, elsewhere.
  mlir_value requested(const mlir_value& x, const layout_desc& layout, bool moves) {
    if (!is_sdy())
      return text_.op(
          "stablehlo.custom_call", {x}, x.type,
          "call_target_name = \"Sharding\", " + said(state_.attributes.of_operation({layout})));
    return text_.op(moves ? "sdy.reshard" : "sdy.sharding_constraint", {x}, x.type,
                    "sharding = " + said(state_.attributes.text_of(layout)));
  }
  [[nodiscard]] bool is_reshard(value_id i) const noexcept {
    return program_.what(i).id == operation_of<collective_operation>.id;
  }
  /// A reshard is one request, whatever collectives it takes; for one device, it is these.
  void write_reshard(value_id i) {
    const value_id from = program_.code[i].operands[0];
    const mlir_value& x = value(from);
    if (state_.is_per_device()) return write_moved(i, x);
    if (const value_id next = only_reader(i); next >= 0 && is_reshard(next)) return set(i, {x});
    value_id first = from;
    while (is_reshard(first) && only_reader(first) >= 0) first = program_.code[first].operands[0];
    if (program_.values[first].layout.without_halos() == program_.values[i].layout.without_halos())
      return set(i, {x});
    bool moves = false;
    for (value_id k = i; is_reshard(k); k = program_.code[k].operands[0])
      moves = moves || static_cast<collective>(program_.how(k).integers[0]) != collective::slice;
    set(i, {requested(x, program_.values[i].layout, moves)});
  }
  /// Returns the only reader of a value that the program does not name, or -1.
  [[nodiscard]] value_id only_reader(value_id i) const noexcept {
    if (reads_[at(i)] != 1 || program_.code[i].kept) return -1;
    for (value_id k = i + 1; k < program_.count; ++k)
      if (program_.code[k].operands.contains(i)) return k;
    return -1;
  }
  void write_moved(value_id i, const mlir_value& x) {
    const tensor_desc& before = program_.values[program_.code[i].operands[0]];
    const tensor_desc& after = program_.values[i];
    const planned_transfer moved = collective_operation::moved(program_.how(i), after.layout);
    exported_collective does{moved.kind, before.layout.kind, moved.axes, moved.from, moved.to, {}};
    // Parts are put together, and cut, by the minor axes of a dimension.
    const auto ends_with = [&](const axis_list& all) {
      const int skipped = all.ssize() - does.axes.ssize();
      for (int k = 0; k < does.axes.ssize(); ++k)
        if (skipped < 0 || all[skipped + k] != does.axes[k]) return false;
      return true;
    };
    const bool fits = (does.from < 0 || ends_with(before.layout.dims[does.from])) &&
                      (does.to < 0 || ends_with(after.layout.dims[does.to]));
    const bool is_known = does.kind != collective::collective_permute &&
                          does.kind != collective::halo_exchange &&
                          does.kind != collective::broadcast;
    if (!fits || !is_known)
      return refuse("this exchange of parts has no counterpart among the collectives");
    if (type_of(after).extents == x.type.extents && does.kind == collective::slice)
      return set(i, {x});
    stablehlo_ops ops(text_);
    const mlir_value made =
        collective_lowering(ops, *program_.mesh, ++state_.channels).append(does, x);
    if (made.name.empty() || made.type.extents != type_of(after).extents)
      return refuse("this exchange of parts has no counterpart among the collectives");
    set(i, {made});
  }

  /// Enters a manual region as HLO does: a value, or the shard of a device, with the same axes.
  mlir_value between_shapes(const mlir_value& x, const layout_desc& before,
                            const tensor_desc& after, bool enters) {
    const mlir_value held = requested(x, before, true);
    return text_.op("stablehlo.custom_call", {held}, type_of(after),
                    std::string("call_target_name = \"") +
                        (enters ? "SPMDFullToShardShape" : "SPMDShardToFullShape") + "\", " +
                        said(state_.attributes.of_operation({after.layout})));
  }
  void write_manual(value_id i) {
    const value_id from = program_.code[i].operands[0];
    const tensor_desc &before = program_.values[from], &after = program_.values[i];
    if (state_.is_per_device() || before == after) return set(i, {value(from)});
    set(i, {between_shapes(value(from), before.layout, after,
                           (after.layout.manual & ~unsigned{before.layout.manual}) != 0)});
  }
  /// Returns an operand inside of the manual region of an instruction, in which a value that all
  /// devices share is one that each of them has.
  mlir_value in_region(value_id o, unsigned axes) {
    tensor_desc tensor = program_.values[o];
    const layout_desc before = tensor.layout;
    if (state_.is_per_device() || is_sdy() || axes == before.manual ||
        is_constant(program_.what(o)))
      return value(o);
    tensor.layout.manual = static_cast<std::uint8_t>(axes);
    return between_shapes(value(o), before, tensor, true);
  }
  /// Returns a result of a region: outside of it, if it is the same on all devices.
  mlir_value out_of_region(const mlir_value& x, const tensor_desc& after, unsigned axes) {
    if (state_.is_per_device() || is_sdy() || axes == after.layout.manual) return x;
    layout_desc inside = after.layout;
    inside.manual = static_cast<std::uint8_t>(axes);
    inside.pending = static_cast<std::uint8_t>(inside.pending & ~axes);
    if (inside.pending == 0) inside.kind = reduction::sum;
    return between_shapes(x, inside, after, false);
  }
  void write_collective(value_id i) {
    const value_id from = program_.code[i].operands[0];
    const manual_collective called = manual_collective::read(program_.how(i));
    const tensor_desc& after = program_.values[i];
    if (called.as_terms && called.of_one && !state_.is_per_device() && manual_axes(i) == 0)
      return set(i, {requested(value(from), after.layout, true)});
    const unsigned axes = manual_axes(i);
    const mlir_value x = in_region(from, axes);
    stablehlo_ops ops(text_);
    collective_lowering lower(ops, *program_.mesh, ++state_.channels);
    mlir_value made;
    if (called.as_terms && called.of_one) {
      // The term of the first device, and 0 on the others.
      const mlir_value place = lower.position(called.axes);
      const mlir_value is_first =
          ops.spread(ops.compare(place, "EQ", ops.scalar(index_t{0}, "i64")), x.type.extents);
      made = ops.select(is_first, x, ops.integer(0, x.type));
    } else {
      made = lower.append(
          {called.kind, called.reduce, called.axes, called.from, called.to, called.moves}, x);
    }
    if (made.name.empty()) return refuse("the collective has no counterpart");
    set(i, {out_of_region(made, after, axes)});
  }

  /// Returns the types of all results, of which the program may read only some.
  std::vector<mlir_type> result_types(value_id i) {
    std::vector<tensor_desc> all{program_.values[i]};
    const text_view name = kernel_operation(program_.what(i), program_.how(i)).name;
    const bool searches = name == "top_k" || name == "max_with_index" || name == "min_with_index";
    if (searches) all.push_back({element::i64, all[0].extents, all[0].layout});
    if (name == "attention_gradients")
      for (int k = 1; k < 3; ++k) {
        tensor_desc one = program_.values[program_.code[i].operands[k]];
        const int head = one.rank() - 3;
        one.extents[head] = all[0].extents[head];
        one.layout = all[0].layout;
        all.push_back(one);
      }
    for (value_id k = i + 1; k < program_.count; ++k) {
      if (!is_result(program_.what(k)) || program_.code[k].operands[0] != i) continue;
      const auto number = at(result_operation::number(program_.how(k)));
      while (all.size() <= number) all.push_back(program_.values[k]);
      all[number] = program_.values[k];
    }
    std::vector<mlir_type> types;
    layouts_.clear();
    for (const tensor_desc& each : all) {
      types.push_back(type_of(each));
      layouts_.push_back(each.layout);
    }
    return types;
  }
  void write_operation(value_id i) {
    const operation& what = program_.what(i);
    tensor_descs operands = program_.operands(i);
    const std::vector<mlir_type> types = result_types(i);
    const unsigned axes = manual_axes(i);
    mlir_values read;
    for (const value_id o : program_.code[i].operands) read.push_back(in_region(o, axes));
    if (!state_.ok()) return;
    if (state_.is_per_device()) take_own_parts(i, operands, read);
    const int first = text_.size();
    operation_export one(*program_.mesh, state_, text_);
    mlir_values made = one.write(what, program_.how(i), operands, read, types);
    if (!one.refusal().empty()) refuse(one.refusal());
    if (!state_.ok()) return;
    for (std::size_t r = 0; r < made.size(); ++r)
      if (made[r].type != types[r])
        return refuse("its counterpart has the type " + to_text(made[r].type) + " in place of " +
                      to_text(types[r]));
    annotate(made, first, axes);
    for (std::size_t r = 0; r < made.size(); ++r) {
      tensor_desc after = program_.values[i];
      after.layout = layouts_[r];
      made[r] = out_of_region(made[r], after, axes);
    }
    set(i, made);
  }
  /// In the form for one device: cuts operands to what the device uses of them, if others or the
  /// result are split along the same dimensions.
  void take_own_parts(value_id i, tensor_descs& operands, mlir_values& read) {
    const operation& what = program_.what(i);
    if (what.rule == nullptr) return;
    const factor_rule rule = what.rule(program_.how(i), operands);
    stablehlo_ops ops(text_);
    for (int o = 0; o < operands.ssize() && o < rule.operands.ssize(); ++o)
      for (int d = 0; d < operands[o].rank(); ++d) {
        const std::uint8_t f = rule.operands[o][d];
        if (f == repeated || operands[o].extents[d] == 1) continue;
        const axis_list wanted = axes_of_factor(rule, f, operands, program_.values[i]);
        const axis_list& own = operands[o].layout.dims[d];
        axis_list more;
        for (int k = own.ssize(); k < wanted.ssize(); ++k) more.push_back(wanted[k]);
        mlir_value& x = read[at(o)];
        const index_t parts = program_.mesh->parts(more);
        if (more.empty() || x.type.extents[d] % parts != 0) continue;
        x = collective_lowering(ops, *program_.mesh, 0)
                .append({collective::slice, reduction::sum, more, -1, d, {}}, x);
        operands[o].layout.dims[d] = wanted;
      }
  }
  /// Adds the shardings of an instruction's results to the operation that computes them.
  void annotate(const mlir_values& made, int first, unsigned axes) {
    if (state_.is_per_device() || made[0].line < first) return;
    std::vector<layout_desc> layouts = layouts_;
    for (layout_desc& layout : layouts) {
      layout.manual = static_cast<std::uint8_t>(layout.manual | axes);
      if (axes != 0) layout.pending = static_cast<std::uint8_t>(layout.pending & ~axes);
    }
    bool is_one = true;
    for (const mlir_value& each : made) is_one = is_one && each.line == made[0].line;
    if (is_one) return text_.add_attribute(made[0], said(state_.attributes.of_operation(layouts)));
    for (std::size_t r = 0; r < made.size(); ++r)
      if (made[r].line >= first)
        text_.add_attribute(made[r], said(state_.attributes.of_operation({layouts[r]})));
  }
  const program_view& program_;
  export_state& state_;
  mlir_builder& text_;
  std::vector<mlir_values> values_;
  std::vector<int> reads_;
  std::vector<layout_desc> layouts_;
  value_id current_ = 0;
};

}  // namespace shardwise::internal
