// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/metadata.hpp"
#include "shardwise/io/program_json.hpp"
#include "shardwise/io/step_arguments_work.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace shardwise {

namespace internal {

/// Writes the parts of a program, one step a line.
class program_writer {
 public:
  /// Appends what a program or a body has between its braces; `indent` begins each line.
  void write_part(const program_view& part, const std::string& indent) {
    value_id first_step = 0;
    while (first_step < part.count && is_input(part.what(first_step)) &&
           part.how(first_step).empty())
      ++first_step;
    const auto list = [&](std::string_view key, value_id begin, value_id end) {
      out_ += indent + '"' + std::string(key) + "\": [";
      for (value_id i = begin; i < end; ++i) {
        out_ += (i == begin ? "\n" : ",\n") + indent + "  ";
        write_step(part, i, end == first_step && key == "inputs");
      }
      out_ += begin == end ? "],\n" : '\n' + indent + "],\n";
    };
    list("inputs", 0, first_step);
    list("steps", first_step, part.count);
    out_ += indent + "\"results\": [";
    for (std::int32_t r = 0; r < part.result_count; ++r)
      out_ += (r == 0 ? "" : ", ") + name_of(part.results[r]);
    out_ += ']';
  }
  void text(std::string_view words) { out_ += words; }
  /// Appends a text in quotes; names of axes are of plain characters.
  void quoted(std::string_view words) { out_ += '"' + std::string(words) + '"'; }
  [[nodiscard]] std::string take() && { return std::move(out_); }

 private:
  [[nodiscard]] static std::string name_of(value_id i) { return "\"%" + std::to_string(i) + '"'; }
  static std::string in_quotes(text_view words) {
    std::string out;
    if (!append_json_string(out, words))
      fail({.rule = violation::text_is_malformed}, "a text of an operation is not UTF-8");
    return out;
  }
  template <class List>
  [[nodiscard]] static std::string numbers(const List& list) {
    std::string out = "[";
    for (const auto number : list)
      out += (out.size() == 1 ? "" : ", ") + std::to_string(static_cast<index_t>(number));
    return out + ']';
  }
  /// Returns a number that reads back to the last bit; JSON has none for infinities and NaN.
  [[nodiscard]] static std::string number(double value) {
    if (std::isfinite(value)) {
      std::string words = metadata_text(value);
      return words.find_first_of(".e") == words.npos ? words + ".0" : words;
    }
    if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
    const auto bits = std::bit_cast<std::uint64_t>(value);
    constexpr double plain = std::numeric_limits<double>::quiet_NaN();
    if (bits == std::bit_cast<std::uint64_t>(plain)) return "\"nan\"";
    std::string words = "\"nan:";
    for (int shift = 60; shift >= 0; shift -= 4) words += "0123456789abcdef"[bits >> shift & 15U];
    return words + '"';
  }

  void member(std::string_view key, std::string_view value) {
    out_ += ", \"" + std::string(key) + "\": " + std::string(value);
  }
  void flag(std::string_view key, bool is_set) { member(key, is_set ? "true" : "false"); }

  void write_step(const program_view& part, value_id i, bool as_input) {
    const instruction& at = part.code[i];
    out_ += "{\"name\": " + name_of(i);
    if (!as_input) write_operation(part, i);
    const tensor_desc& made = part.values[i];
    member(as_input ? "type" : "out", '"' + std::string(to_text(*part.mesh, made)) + '"');
    if (made.layout.uneven) flag("uneven", true);
    bool is_result = false;
    for (std::int32_t r = 0; r < part.result_count; ++r) is_result |= part.results[r] == i;
    const bool is_named = is_result && !at.what->is_leaf;
    if (at.named != is_named) flag("named", at.named);
    if (at.kept != is_result) flag("kept", at.kept);
    if (at.donated) flag("donated", true);
    if (at.recomputed) flag("recomputed", true);
    out_ += '}';
  }
  void write_operation(const program_view& part, value_id i) {
    const instruction& at = part.code[i];
    const operation& what = *at.what;
    const attributes& how = part.how(i);
    std::string name(what.name), members;
    bool is_said = is_input(what) && how.empty();
    if (is_constant(what)) {
      const bool is_whole = !how.integers.empty();
      is_said = how == (is_whole ? constant_operation::how(how.integers[0])
                                 : constant_operation::how(how.number));
      members = ", \"value\": " + (is_whole ? std::to_string(how.integers[0]) : number(how.number));
    } else if (is_call(what)) {
      is_said = true;
      members = ", \"body\": " + std::to_string(call_operation::body(how));
    } else if (is_result(what)) {
      is_said = how == result_operation::how(result_operation::number(how));
      members = ", \"number\": " + std::to_string(result_operation::number(how));
    } else if (what.id == operation_of<collective_operation>.id) {
      members = members_of_collective(part, i);
      is_said = !members.empty();
      if (is_said) name = "reshard";
    } else if (!at.operands.empty() && how.each == nullptr) {
      const auto [known, arguments] = catalogued_form(what, how, part.operands(i));
      is_said = !known.empty();
      if (is_said) name = known;
      members = arguments;
    }
    if (!is_said) {
      if (!is_named(what) || (how.each != nullptr && !is_named(*how.each)))
        fail({.rule = violation::layout_has_no_text},
             bounded_text<200>("JSON has no name for the operation ") << what.name);
      members = ", \"attributes\": " + raw(how);
    }
    member("op", in_quotes(name));
    if (!at.operands.empty()) {
      out_ += ", \"operands\": [";
      for (int o = 0; o < at.operands.ssize(); ++o)
        out_ += (o == 0 ? "" : ", ") + name_of(at.operands[o]);
      out_ += ']';
    }
    out_ += members;
  }
  /// Returns true for the operations that `program_from_json` finds by their names.
  [[nodiscard]] static bool is_named(const operation& what) noexcept {
    const catalogued_operation* const known = find_named_operation(what.name);
    return (known != nullptr && known->what->id == what.id) || is_structural(what);
  }
  [[nodiscard]] static bool is_structural(const operation& what) noexcept {
    return is_constant(what) || is_result(what) || is_call(what) || is_input(what) ||
           is_collective(what) || what.id == operation_of<vmap_operation>.id;
  }
  [[nodiscard]] static std::string members_of_collective(const program_view& part, value_id i) {
    const attributes& how = part.how(i);
    const planned_transfer moved = collective_operation::moved(how, part.values[i].layout);
    if (!(collective_operation::how(part.values[part.code[i].operands[0]], moved) == how))
      return {};
    std::string out = ", \"collective\": \"" + std::string(to_text(moved.kind)) + "\", \"axes\": [";
    for (int a = 0; a < moved.axes.ssize(); ++a)
      out += (a == 0 ? "\"" : ", \"") +
             std::string(text_view(part.mesh->axes[moved.axes[a]].label)) + '"';
    out += ']';
    if (moved.from >= 0) out += ", \"from\": " + std::to_string(moved.from);
    if (moved.to >= 0) out += ", \"to\": " + std::to_string(moved.to);
    return out;
  }
  /// Returns attributes as they are stored, without those that are empty.
  [[nodiscard]] static std::string raw(const attributes& how) {
    std::string out;
    const auto add = [&](std::string_view key, const std::string& value) {
      out += (out.empty() ? "\"" : ", \"") + std::string(key) + "\": " + value;
    };
    if (!how.integers.empty()) add("integers", numbers(how.integers));
    if (std::bit_cast<std::uint64_t>(how.number) != 0) add("number", number(how.number));
    if (how.kind != reduction::sum) add("kind", '"' + std::string(to_text(how.kind)) + '"');
    if (!how.words.empty()) add("words", in_quotes(how.words));
    if (how.each != nullptr) add("each", in_quotes(how.each->name));
    if (!how.batches.empty()) add("batches", numbers(how.batches));
    return '{' + out + '}';
  }

  std::string out_{};
};

/// Returns a mesh in the notation of the library, with all devices of an explicit order.
[[nodiscard]] inline std::string words_of_mesh(const mesh_desc& mesh) {
  mesh_desc plain = mesh;
  plain.order = {};
  message_text axes;
  write_mesh(axes, plain, 0);
  std::string out(axes);
  for (index_t i = 0; i < mesh.order.devices().ssize(); ++i)
    out += (i == 0 ? "[" : ",") + std::to_string(mesh.order.at(i));
  return mesh.order.empty() ? out : out + ']';
}

}  // namespace internal

SHARDWISE_INLINE_FILES std::string program_to_json(const program_view& program) {
  internal::program_writer out;
  out.text("{\n  \"version\": 1,\n  \"mesh\": ");
  out.quoted(internal::words_of_mesh(*program.mesh));
  out.text(",\n");
  if (program.body_count > 0) {
    out.text("  \"bodies\": [");
    for (std::int32_t k = 0; k < program.body_count; ++k) {
      out.text(k == 0 ? "\n    {\n" : ",\n    {\n");
      out.write_part(program.body(k), "      ");
      out.text("\n    }");
    }
    out.text("\n  ],\n");
  }
  out.write_part(program, "  ");
  out.text("\n}\n");
  return std::move(out).take();
}

}  // namespace shardwise
