// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/instruction_reader_work.hpp"
#include "shardwise/io/program_json.hpp"
#include "shardwise/io/program_writer_work.hpp"
#include "shardwise/notation/mesh_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace shardwise {

namespace internal {

/// Reads the parts of a program: its bodies, and what calls them.
class program_reader {
 public:
  explicit program_reader(read_program& to) : out_(to) {}

  void run(const nlohmann::json& root) {
    member_reader in(root, "", fault_);
    if (fault_.ok() && in.integer("version", 1, 1) == 1) read_mesh_of(in);
    const nlohmann::json& bodies = in.list("bodies", most_bodies, false);
    for (std::size_t k = 0; k < bodies.size() && fault_.ok(); ++k) {
      member_reader body(bodies[k], "bodies[" + std::to_string(k) + ']', fault_);
      read_part(body, bodies_.emplace_back(), true);
      body.finish("a body");
      views_.push_back(bodies_.back().view());
    }
    if (fault_.ok()) read_part(in, out_.made.program, false);
    in.finish("a program");
    if (fault_.ok()) return;
    out_.made = {};
    out_.where = fault_.where;
    out_.reason = fault_.reason;
  }

 private:
  static constexpr std::size_t most_bodies = 64;
  static constexpr std::size_t most_steps = std::size_t{1} << 20U;

  void read_mesh_of(member_reader& in) {
    const std::string words = in.text("mesh");
    if (words.empty()) return void(fault_.at("mesh", "it is missing"));
    // A device takes two characters, and two numbers.
    out_.made.order.resize(words.size() + 2);
    device_buffer buffer(out_.made.order.data(), static_cast<index_t>(out_.made.order.size()));
    const read_mesh read = parse_mesh(words, buffer);
    mesh_ = read.mesh;
    if (mesh_.order.empty()) out_.made.order.clear();
    if (!read.rule.ok() && read.rule.rule != violation::text_is_malformed)
      fault_.at("mesh", read.rule);
    else if (!read.verdict.ok())
      fault_.at("mesh", std::string(read.verdict.reason) + ", at character " +
                            std::to_string(read.verdict.position));
  }

  void read_part(member_reader& in, stored_program& to, bool is_body) {
    const nlohmann::json& inputs = in.list("inputs", most_steps);
    const nlohmann::json& steps = in.list("steps", most_steps);
    const nlohmann::json& results = in.list("results", most_steps);
    if (!fault_.ok()) return;
    // A reshard may become several collectives; called bodies are copied.
    auto room = static_cast<std::int32_t>(inputs.size() + steps.size());
    auto kept = static_cast<std::int32_t>(results.size());
    for (const auto& step : steps)
      if (step.is_object() && step.value("op", nlohmann::json()) == "reshard")
        room += static_cast<std::int32_t>(redistribution{}.moves.capacity());
    for (const stored_program& body : bodies_) {
      if (&body == &to) continue;
      room += body.count;
      kept += body.result_count;
    }
    to.resize(room, kept, static_cast<std::int32_t>(bodies_.size()));
    to.mesh = mesh_;
    program_builder code(to);
    names_.clear();
    for (std::size_t i = 0; i < inputs.size() && fault_.ok(); ++i) {
      member_reader input(inputs[i], in.place("inputs[" + std::to_string(i) + ']'), fault_);
      const auto type = read_value(mesh_, input, "type", true);
      if (!type) continue;
      take(input, to, code.append(operation_of<input_operation>, {}, {}, *type));
      input.finish("an input");
    }
    for (std::size_t i = 0; i < steps.size() && fault_.ok(); ++i) {
      member_reader step(steps[i], in.place("steps[" + std::to_string(i) + ']'), fault_);
      const value_ids operands = read_operands(step);
      if (!fault_.ok()) break;
      instruction_reader reader(step, code, operands, views_);
      if (const auto made = reader.append()) take(step, to, *made);
      step.finish("this step");
    }
    for (std::size_t r = 0; r < results.size() && fault_.ok(); ++r) {
      const value_id found = find(results[r]);
      if (found < 0)
        in.refuse("results[" + std::to_string(r) + ']', "no value has this name");
      else
        code.keep(found);
    }
    if (is_body && fault_.ok() && results.empty()) in.refuse("results", "a body has results");
    for (const auto& [id, marks] : marks_) {
      if (marks.first) to.code[id].named = *marks.first;
      if (marks.second) to.code[id].kept = *marks.second;
    }
    marks_.clear();
  }
  [[nodiscard]] value_id find(const nlohmann::json& name) const {
    if (!name.is_string()) return -1;
    const auto found = names_.find(name.get_ref<const std::string&>());
    return found == names_.end() ? -1 : found->second;
  }
  [[nodiscard]] value_ids read_operands(member_reader& step) {
    value_ids out;
    const nlohmann::json& names = step.list("operands", out.capacity(), false);
    for (std::size_t o = 0; o < names.size(); ++o) {
      const value_id found = find(names[o]);
      if (found < 0) {
        step.refuse("operands[" + std::to_string(o) + ']', "no value before has this name");
        return {};
      }
      out.push_back(found);
    }
    return out;
  }
  /// Gives a value its name and its marks. Whether it is named or kept is known after the results.
  void take(member_reader& in, stored_program& to, value_id id) {
    const std::string name = in.text("name");
    if (name.empty())
      in.refuse("name", "a value has a name");
    else if (!names_.emplace(name, id).second)
      in.refuse("name", "another value has this name");
    instruction& made = to.code[static_cast<std::size_t>(id)];
    made.donated = in.flag("donated").value_or(made.donated);
    made.recomputed = in.flag("recomputed").value_or(made.recomputed);
    if (made.donated && !is_input(*made.what)) in.refuse("donated", "only inputs are donated");
    const auto named = in.flag("named"), kept = in.flag("kept");
    if (named || kept) marks_[static_cast<std::size_t>(id)] = {named, kept};
  }

  read_program& out_;
  program_fault fault_{};
  mesh_desc mesh_{};
  std::deque<stored_program> bodies_{};
  std::vector<program_view> views_{};
  std::unordered_map<std::string, value_id> names_{};
  std::map<std::size_t, std::pair<std::optional<bool>, std::optional<bool>>> marks_{};
};

}  // namespace internal

SHARDWISE_INLINE_FILES read_program parse_program(std::string_view text) {
  using nlohmann::json;
  read_program out;
  // A name that occurs twice is refused where it stands; values of the parser are the last ones.
  std::vector<std::set<std::string>> names;
  std::string twice;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) names.emplace_back();
    if (event == json::parse_event_t::object_end) names.pop_back();
    if (event == json::parse_event_t::key && !names.empty() &&
        !names.back().insert(value.get<std::string>()).second && twice.empty())
      twice = value.get<std::string>();
    return true;
  };
  const bool is_whole = text.find('\0') == text.npos;
  const json root = is_whole ? json::parse(text, watch, false) : json(json::value_t::discarded);
  if (root.is_discarded())
    out.reason = "it is no JSON";
  else if (!twice.empty())
    out.reason = "an object has the member \"" + twice + "\" twice";
  else
    internal::program_reader(out).run(root);
  return out;
}

SHARDWISE_INLINE_FILES imported_program program_from_json(std::string_view text) {
  read_program read = parse_program(text);
  if (!read.ok()) {
    message_text words(read.where);
    fail({.rule = violation::text_is_malformed},
         words << (read.where.empty() ? "" : ": ") << text_view(read.reason));
  }
  return std::move(read.made);
}

}  // namespace shardwise
