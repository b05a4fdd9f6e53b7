// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/step_reader_work.hpp"
#include "shardwise/plan/program_builder.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shardwise::internal {

/// Appends the instruction that a step describes, once it is checked.
class instruction_reader {
 public:
  /// `bodies` are those that steps may call, by their numbers.
  instruction_reader(member_reader& in, program_builder& to, const value_ids& operands,
                     const std::vector<program_view>& bodies)
      : in_(in), to_(to), read_(operands), bodies_(bodies) {
    for (const value_id o : operands) operands_.push_back(to.value(o));
  }

  /// Returns the number of the value that the step makes, or nothing if it is refused.
  [[nodiscard]] std::optional<value_id> append() {
    const std::string op = in_.text("op");
    const bool is_raw = in_.all().contains("attributes");
    if (op.empty()) return std::nullopt;
    struct form {
      std::string_view name;
      std::optional<value_id> (instruction_reader::*append)();
      bool is_raw;
    };
    static constexpr form forms[] = {
        {"input", &instruction_reader::append_input, false},
        {"constant", &instruction_reader::append_constant, false},
        {"call", &instruction_reader::append_call, false},
        {"result", &instruction_reader::append_result, false},
        {"reshard", &instruction_reader::append_reshard_step, false},
        {"collective", &instruction_reader::append_collective, true},
        {"manual", &instruction_reader::append_manual_change, true},
        {"manual_collective", &instruction_reader::append_manual_collective, true},
        {"vmap", &instruction_reader::append_batched, true}};
    for (const form& one : forms)
      if (one.name == op && one.is_raw == is_raw) return (this->*one.append)();
    return is_raw ? append_named(op) : append_catalogued(op);
  }

 private:
  using made = std::optional<value_id>;

  made refuse(std::string_view key, std::string why) {
    in_.refuse(key, std::move(why));
    return std::nullopt;
  }
  made refuse(std::string_view key, const diagnosis& verdict) {
    in_.refuse(key, verdict);
    return std::nullopt;
  }
  [[nodiscard]] bool has_operands(int count) {
    if (read_.ssize() == count) return true;
    return in_.refuse("operands", "this operation reads " + std::to_string(count) + " values");
  }
  [[nodiscard]] std::optional<tensor_desc> out(bool is_needed = true) {
    return read_value(to_.mesh(), in_, "out", is_needed);
  }
  [[nodiscard]] std::optional<attributes> raw() {
    const auto* const from = in_.need("attributes");
    member_reader inner(*from, in_.place("attributes"), in_.fault());
    attributes how = read_attributes(inner);
    inner.finish("an operation");
    if (!in_.fault().ok()) return std::nullopt;
    return how;
  }

  made append_input() {
    const auto type = out();
    if (!type || !has_operands(0)) return std::nullopt;
    return to_.append(operation_of<input_operation>, {}, {}, *type);
  }
  made append_constant() {
    const auto* const value = in_.need("value");
    if (value == nullptr || !has_operands(0)) return std::nullopt;
    const auto type = out();
    if (!type) return std::nullopt;
    attributes how;
    if (value->is_boolean())
      how = constant_operation::how(value->get<bool>());
    else if (const auto whole = member_reader::whole(*value))
      how = constant_operation::how(*whole);
    else if (const auto number = member_reader::number(*value))
      how = constant_operation::how(*number);
    else
      return refuse("value", "it is a number of 64 bits, \"inf\", \"-inf\" or \"nan\"");
    return to_.append(operation_of<constant_operation>, how, {}, *type);
  }
  made append_call() {
    const index_t body = in_.integer("body", 0, static_cast<index_t>(bodies_.size()) - 1);
    if (!in_.fault().ok()) return std::nullopt;
    const program_view& called = bodies_[static_cast<std::size_t>(body)];
    int inputs = 0;
    for (value_id i = 0; i < called.count; ++i) {
      if (!is_input(called.what(i))) continue;
      if (inputs < operands_.ssize() && !(called.values[i] == operands_[inputs]))
        return refuse("operands[" + std::to_string(inputs) + ']',
                      "the body reads " + words(called.values[i]));
      ++inputs;
    }
    if (!has_operands(inputs)) return std::nullopt;
    if (called.result_count == 0) return refuse("body", "this body has no results");
    return accept(operation_of<call_operation>, call_operation::how(to_.adopt(called)),
                  called.values[called.results[0]]);
  }
  made append_result() {
    const index_t number = in_.integer("number", 1, INT32_MAX);
    const auto type = out();
    if (!type || !in_.fault().ok() || !has_operands(1)) return std::nullopt;
    const program_view program = to_.view();
    if (is_call(program.what(read_[0]))) {
      const program_view called = program.callee(read_[0]);
      if (number >= called.result_count) return refuse("number", "the body has no such result");
      if (!(called.values[called.results[number]] == *type))
        return refuse("out", "the result is " + words(called.values[called.results[number]]));
    }
    return to_.append(operation_of<result_operation>,
                      result_operation::how(static_cast<int>(number)), read_, *type);
  }
  made append_reshard_step() {
    const auto type = out();
    if (!type || !has_operands(1)) return std::nullopt;
    const tensor_desc before = operands_[0];
    if (type->type != before.type || type->extents != before.extents)
      return refuse("out", "a reshard keeps the elements of " + words(before));
    const std::string kind = in_.text("collective", false);
    if (kind.empty()) {
      const diagnosis verdict = redistribute(to_.mesh(), before, type->layout).verdict;
      if (!verdict.ok()) return refuse("out", verdict);
      return append_reshard(to_, read_[0], type->layout);
    }
    planned_transfer moved{.after = type->layout};
    int place = 0;
    while (place < collective_count && !(to_text(static_cast<collective>(place)) == kind)) ++place;
    if (place == collective_count) return refuse("collective", "no collective has this name");
    moved.kind = static_cast<collective>(place);
    const auto& axes = in_.list("axes", max_axes);
    unsigned used = 0;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const int axis =
          axes[a].is_string() ? to_.mesh().find(axes[a].get_ref<const std::string&>()) : -1;
      if (axis < 0 || (used >> axis & 1U) != 0)
        return refuse("axes[" + std::to_string(a) + ']', "it is an axis of the mesh, named once");
      used |= 1U << axis;
      moved.axes.push_back(static_cast<std::uint8_t>(axis));
    }
    moved.from = static_cast<int>(in_.integer("from", 0, before.rank() - 1, -1));
    moved.to = static_cast<int>(in_.integer("to", 0, before.rank() - 1, -1));
    return append_transfer(collective_operation::how(before, moved), moved, *type);
  }
  made append_collective() {
    const auto how = raw();
    const auto type = out();
    if (!how || !type || !has_operands(1)) return std::nullopt;
    const auto& numbers = how->integers;
    const int rank = operands_[0].rank();
    unsigned used = 0;
    bool is_sound = numbers.size() >= 3 && numbers.size() <= 3 + max_axes && numbers[0] >= 0 &&
                    numbers[0] < collective_count;
    for (int i = 1; i < 3; ++i) is_sound = is_sound && numbers[i] >= -1 && numbers[i] < rank;
    for (int i = 3; i < numbers.ssize() && is_sound; ++i) {
      is_sound =
          numbers[i] >= 0 && numbers[i] < to_.mesh().rank() && (used >> numbers[i] & 1U) == 0;
      if (is_sound) used |= 1U << numbers[i];
    }
    if (!is_sound) return refuse("attributes.integers", "they describe no collective");
    return append_transfer(*how, collective_operation::moved(*how, type->layout), *type);
  }
  made append_transfer(const attributes& how, const planned_transfer& moved,
                       const tensor_desc& after) {
    if (!in_.fault().ok()) return std::nullopt;
    if (!is_collective_between(to_.mesh(), moved, operands_[0], after))
      return refuse("out", "this collective does not make it of " + words(operands_[0]));
    return to_.append(operation_of<collective_operation>, how, read_, after);
  }
  made append_manual_change() {
    const auto how = raw();
    const auto type = out();
    if (!how || !type || !has_operands(1)) return std::nullopt;
    const bool enters = how->integers[0] != 0;
    if (how->integers.size() != 1 || (type->layout.manual != 0) != enters ||
        type->rank() != operands_[0].rank() || type->type != operands_[0].type)
      return refuse("out", "this is not what devices have of " + words(operands_[0]));
    return to_.append(operation_of<manual_operation>, *how, read_, *type);
  }
  made append_manual_collective() {
    const auto how = raw();
    if (!how || !has_operands(1)) return std::nullopt;
    if (!is_manual_collective(to_.mesh(), *how))
      return refuse("attributes.integers", "they describe no collective on manual axes");
    return append_called(*how);
  }
  made append_called(const attributes& how) {
    const manual_result given = manual_collective::read(how).apply(to_.mesh(), operands_[0]);
    if (!given.verdict.ok()) return refuse("operands[0]", given.verdict);
    return accept(operation_of<manual_collective_operation>, how, given.tensor);
  }
  made append_batched() {
    const auto how = raw();
    if (!how) return std::nullopt;
    if (how->each == nullptr) return refuse("attributes.each", "it is missing");
    const catalogued_operation& entry = *find_named_operation(how->each->name);
    if (const diagnosis verdict = check_batched(entry, *how, operands_); !verdict.ok())
      return refuse("operands", verdict);
    return append_inferred(operation_of<vmap_operation>, *how);
  }
  made append_named(const std::string& op) {
    const catalogued_operation* const entry = find_named_operation(op);
    if (entry == nullptr) return refuse("op", "no operation of programs has this name");
    const auto how = raw();
    if (!how) return std::nullopt;
    if (how->each != nullptr) return refuse("attributes.each", "only vmap has it");
    return append_checked(*entry, *how);
  }
  made append_catalogued(const std::string& op) {
    const catalogued_operation* const entry = find_operation(op);
    if (entry == nullptr)
      return refuse("op", "no operation has this name; `shardwise operations` lists all");
    const bool is_cast = op == "cast", is_contraction = op == "einsum";
    if (entry->what == nullptr && entry->called == nullptr && !is_cast && !is_contraction)
      return refuse("op", op + " is composed of other operations, which are steps of their own");
    const operation_arguments given = read_arguments(*entry, in_, texts_);
    if (!in_.fault().ok()) return std::nullopt;
    if (operands_.ssize() < entry->least && !has_operands(entry->least)) return std::nullopt;
    if (entry->called != nullptr) {
      diagnosis verdict;
      const int rank = operands_[0].rank();
      const manual_collective called =
          entry->called(to_.mesh(), arguments_from_front(*entry, given, rank), verdict);
      if (!verdict.ok() || !has_operands(1)) return refuse("axes", verdict);
      if (!is_manual_collective(to_.mesh(), called.how()))
        return refuse("op", "its arguments describe no collective on manual axes");
      return append_called(called.how());
    }
    if (is_cast)
      return append_checked(
          *find_named_operation(cast_to(static_cast<element>(given.integer("type"))).name), {});
    if (is_contraction) {
      if (given.has("type")) return refuse("type", "elements are converted by a step of their own");
      operand_extents extents;
      for (const tensor_desc& one : operands_) extents.push_back(one.extents);
      const attributes how =
          einsum_operation::how(named_dimensions(given.words("equation"), extents));
      const operation& what = *detail::contractions[given.integer("semiring")].what;
      return append_checked(*find_named_operation(what.name), how);
    }
    const operation_arguments from_front = arguments_from_front(*entry, given, operands_[0].rank());
    if (given.has("dims") && !entry->names.of_result)
      if (const diagnosis verdict = over(from_front.integers("dims")).judge(operands_[0].rank());
          !verdict.ok())
        return refuse("dims", verdict);
    return append_checked(*entry, attributes_of(*entry, from_front, operands_));
  }
  made append_checked(const catalogued_operation& entry, const attributes& how) {
    if (operands_.ssize() > max_operands) return refuse("operands", "there are too many");
    if (const diagnosis verdict = check_application(entry, how, operands_); !verdict.ok())
      return refuse("operands", verdict);
    return append_inferred(*entry.what, how);
  }
  made append_inferred(const operation& what, const attributes& how) {
    const propagation result = infer_checked(to_.mesh(), what, how, operands_);
    if (!result.verdict.ok()) return refuse("operands", result.verdict);
    return accept(what, how, result.result);
  }
  /// Appends an instruction, unless another type is given than the one that it has.
  made accept(const operation& what, const attributes& how, const tensor_desc& result) {
    const auto type = out(false);
    if (!in_.fault().ok()) return std::nullopt;
    if (type && what.is_elementwise && is_repeated(result, *type))
      return to_.append(what, how, read_, *type);
    if (type && !(*type == result)) return refuse("out", "the result is " + words(result));
    if (const diagnosis verdict = check_value(to_.mesh(), result); !verdict.ok())
      return refuse("operands", verdict);
    return to_.append(what, how, read_, result);
  }
  [[nodiscard]] std::string words(const tensor_desc& value) const {
    return std::string(to_text(to_.mesh(), value)) + (value.layout.uneven ? ", uneven" : "");
  }

  member_reader& in_;
  program_builder& to_;
  value_ids read_;
  tensor_descs operands_{};
  const std::vector<program_view>& bodies_;
  std::deque<std::string> texts_{};
};

}  // namespace shardwise::internal
