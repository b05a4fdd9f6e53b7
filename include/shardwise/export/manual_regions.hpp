// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/instruction_export.hpp"

#include <string>
#include <vector>

namespace shardwise::internal {

/// Writes a function with the manual regions of Shardy: its instructions outside of regions, and
/// those of each region together, as `sdy.manual_computation`.
class manual_regions {
 public:
  manual_regions(const program_view& program, instruction_export& writer, export_state& state)
      : program_(program), writer_(writer), state_(state) {}

  /// Writes what is outside of regions, as far as what it reads is written; returns false if all
  /// is.
  bool write_outside() {
    bool is_left = false;
    for (value_id i = 0; i < program_.count && state_.ok(); ++i) {
      if (writer_.is_written(i)) continue;
      if (is_inside(i) || !is_ready(i))
        is_left = true;
      else if (leaves(i))
        writer_.set(i, {writer_.value(program_.code[i].operands[0])});
      else
        writer_.write(i);
    }
    return is_left;
  }
  /// Writes a region of all instructions that can be written now; returns false if there are none.
  bool write_region() {
    members_.clear();
    axes_ = 0;
    for (value_id i = 0; i < program_.count; ++i) {
      if (writer_.is_written(i) || !is_inside(i)) continue;
      const unsigned axes = writer_.manual_axes(i);
      if ((axes_ != 0 && axes != axes_) || !is_ready_here(i)) continue;
      axes_ = axes;
      members_.push_back(i);
    }
    if (members_.empty()) return false;
    write_members();
    return state_.ok();
  }

 private:
  [[nodiscard]] bool is_manual(value_id i) const noexcept {
    return program_.what(i).id == operation_of<manual_operation>.id;
  }
  [[nodiscard]] bool enters(value_id i) const noexcept {
    return is_manual(i) && program_.values[i].layout.manual != 0;
  }
  [[nodiscard]] bool leaves(value_id i) const noexcept {
    return is_manual(i) && program_.values[i].layout.manual == 0 &&
           program_.values[program_.code[i].operands[0]].layout.manual != 0;
  }
  [[nodiscard]] bool is_inside(value_id i) const noexcept {
    return writer_.manual_axes(i) != 0 && !leaves(i);
  }
  [[nodiscard]] bool is_member(value_id i) const noexcept {
    for (const value_id each : members_)
      if (each == i) return true;
    return false;
  }
  [[nodiscard]] bool is_ready(value_id i) const noexcept {
    for (const value_id o : program_.code[i].operands)
      if (!writer_.is_written(o)) return false;
    return true;
  }
  [[nodiscard]] bool is_ready_here(value_id i) const noexcept {
    for (const value_id o : program_.code[i].operands)
      if (!writer_.is_written(o) && (!is_member(o) || enters(i))) return false;
    return true;
  }
  /// Returns the layout of what a region gives outside: that of the value which leaves it.
  [[nodiscard]] value_id left_as(value_id i) const noexcept {
    for (value_id k = i + 1; k < program_.count; ++k)
      if (leaves(k) && program_.code[k].operands[0] == i) return k;
    return i;
  }
  [[nodiscard]] bool is_read_outside(value_id i) const noexcept {
    for (value_id k = i + 1; k < program_.count; ++k)
      if (program_.code[k].operands.contains(i) && !is_member(k)) return true;
    for (std::int32_t r = 0; r < program_.result_count; ++r)
      if (program_.results[r] == i) return true;
    return false;
  }

  void write_members() {
    std::vector<value_id> given, kept;
    std::vector<layout_desc> in, out;
    const auto take = [&](value_id o) {
      for (const value_id each : given)
        if (each == o) return;
      given.push_back(o);
      in.push_back(program_.values[o].layout);
    };
    for (const value_id i : members_)
      for (const value_id o : program_.code[i].operands) {
        if (is_member(o) || is_constant(program_.what(o))) continue;
        if (program_.values[o].layout.manual != 0)
          return writer_.refuse("a value is manual in several regions that other steps separate");
        if (!enters(i)) take(o);
      }
    // A value that enters is an argument of its own, in the shape of a shard.
    std::vector<value_id> entering;
    for (const value_id i : members_)
      if (enters(i)) {
        entering.push_back(i);
        in.push_back(program_.values[program_.code[i].operands[0]].layout);
      }
    for (const value_id i : members_)
      if (is_read_outside(i)) {
        kept.push_back(i);
        out.push_back(program_.values[left_as(i)].layout);
      }
    mlir_values read, outside;
    std::vector<mlir_type> arguments, results;
    for (const value_id o : given) {
      read.push_back(writer_.value(o));
      arguments.push_back(writer_.type_of(o));
    }
    for (const value_id i : entering) {
      read.push_back(writer_.value(program_.code[i].operands[0]));
      arguments.push_back(writer_.type_of(i));
    }
    for (const value_id i : kept) results.push_back(writer_.type_of(left_as(i)));
    for (const value_id o : given) outside.push_back(writer_.value(o));
    std::vector<std::pair<value_id, mlir_value>> numbers;
    const std::string body =
        writer_.text().region(arguments, "sdy.return", [&](const mlir_values& values) {
          for (std::size_t k = 0; k < given.size(); ++k) writer_.set(given[k], {values[k]});
          for (std::size_t k = 0; k < entering.size(); ++k)
            writer_.set(entering[k], {values[given.size() + k]});
          for (const value_id i : members_)
            for (const value_id o : program_.code[i].operands)
              if (is_constant(program_.what(o))) {
                numbers.emplace_back(o, writer_.value(o));
                writer_.set(o, {writer_.constant(o)});
              }
          for (const value_id i : members_)
            if (!enters(i) && state_.ok()) writer_.write(i);
          mlir_values made;
          for (const value_id i : kept)
            made.push_back(writer_.is_written(i) ? writer_.value(i) : mlir_value{});
          return made;
        });
    for (std::size_t k = 0; k < given.size(); ++k) writer_.set(given[k], {outside[k]});
    for (auto each = numbers.rbegin(); each != numbers.rend(); ++each)
      writer_.set(each->first, {each->second});
    std::string axes;
    for (int a = 0; a < program_.mesh->rank(); ++a)
      if ((axes_ >> a & 1U) != 0) {
        const text_view label = program_.mesh->axes[a].label;
        axes += (axes.empty() ? "\"" : ", \"") + std::string(label.data(), label.size()) + '"';
      }
    const mlir_values made =
        writer_.text().append("sdy.manual_computation", read, results,
                              "in_shardings = " + state_.attributes.per_value(in) +
                                  ", out_shardings = " + state_.attributes.per_value(out) +
                                  ", manual_axes = #sdy<manual_axes{" + axes + "}>",
                              " ({\n" + body + "})");
    if (!state_.attributes.refusal().empty()) writer_.refuse(state_.attributes.refusal());
    for (std::size_t k = 0; k < kept.size(); ++k) writer_.set(kept[k], {made[k]});
  }

  const program_view& program_;
  instruction_export& writer_;
  export_state& state_;
  std::vector<value_id> members_;
  unsigned axes_ = 0;
};

}  // namespace shardwise::internal
