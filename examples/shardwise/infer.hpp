// SPDX-License-Identifier: BSL-1.0
// What an operation makes of operands.
#pragma once

#include "read_operation.hpp"
#include "text_table.hpp"
#include <shardwise/plan/paper_moves.hpp>

namespace tool {

/// The answer to `shardwise infer`.
struct inferred {
  std::vector<std::string> results;
  /// The axes over which each result is pending.
  std::vector<std::vector<std::string>> pending;
  std::vector<planned_transfer> moves;
  mesh_desc mesh{};
  index_t flops = 0;
};

/// Why an operation does not take its operands.
[[nodiscard]] inline refusal refused_operation(const mesh_desc& mesh,
                                               const operation_inference& found) {
  std::vector<std::string> reshards;
  for (const tensor_desc& operand : found.legal) reshards.push_back(str(to_text(mesh, operand)));
  if (!found.misuse.empty()) {
    refusal why(str(found.misuse), found.misuse == "elements_are_no_integers"
                                       ? "bitwise operations and shifts need integers"
                                       : "roots, exponentials and means need floating-point "
                                         "elements");
    why.reshards = std::move(reshards);
    return why;
  }
  refusal why = *judge(found.verdict);
  why.reshards = std::move(reshards);
  why.across = labels_of(mesh, found.to_permit);
  return why;
}

/// Adds the collectives that give a tensor another layout, or one on manual axes.
[[nodiscard]] inline objection move(inferred& out, const paper_reshard& asked) {
  const redistribution way = moves_of(out.mesh, asked);
  if (auto no = judge(way.verdict)) return no;
  for (const planned_transfer& step : way.moves)
    if (!moving_axes(out.mesh, step).empty()) out.moves.push_back(step);
  return std::nullopt;
}

namespace detail {

/// The types of `--out`.
[[nodiscard]] inline outcome<std::vector<tensor_desc>> read_wanted(const request& asked,
                                                                   const mesh_desc& mesh) {
  std::vector<tensor_desc> wanted;
  const auto& all = asked.get("out");
  if (!all) return wanted;
  std::size_t begin = 0;
  for (const std::string& words : types_of(*all)) {
    const auto type = read_type(words, mesh);
    if (!type) {
      return located_on(mesh, unread_part(located(type.why(), "out", words), begin), "out", *all);
    }
    wanted.push_back(*type);
    begin += words.size() + 1;
  }
  return wanted;
}

/// Gives the results the types of `--out`.
[[nodiscard]] inline objection move_results(inferred& out, tensor_results& results,
                                            const std::vector<tensor_desc>& wanted) {
  if (!wanted.empty() && wanted.size() != results.size())
    return refusal("result_type_differs",
                   "--out has a type for each result, with ';' between them; there are " +
                       std::to_string(results.size()))
        .of("out");
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    tensor_desc& made = results[r];
    if (wanted[r].extents != made.extents || wanted[r].type != made.type)
      return refusal("result_type_differs",
                     "the result is " + str(to_text(out.mesh, made)) +
                         ": --out has the same elements and extents, and another layout")
          .of("out");
    if (auto no = move(out, {made, wanted[r].layout, {}})) return no;
    made = wanted[r];
  }
  return std::nullopt;
}

[[nodiscard]] inline outcome<inferred> infer_as_asked(const request& asked, workspace& memory) {
  device_buffer buffer = memory.buffer();
  subject about;
  if (!asked.has("mesh")) return refusal("option_is_missing", "this needs --mesh").of("mesh");
  if (auto no = read_mesh_of(asked, about, buffer)) return *std::move(no);
  inferred out;
  out.mesh = *about.mesh;
  const auto name = asked.need("op");
  if (!name) return name.why();
  const catalogued_operation* const entry = find_operation(text_view(*name));
  if (entry == nullptr) return unknown_operation(*name);
  const auto given = read_operation_arguments(asked, *entry);
  if (!given) return given.why();
  tensor_descs operands;
  for (const std::string& words : asked.operands) {
    if (operands.full())
      return *judge({.rule = violation::operand_count_differs,
                     .have = static_cast<index_t>(asked.operands.size()),
                     .want = max_operands});
    const auto type = read_type(words, out.mesh);
    if (!type) return located_on(out.mesh, type.why(), "operands", words, operands.ssize());
    operands.push_back(*type);
  }
  const auto wanted = read_wanted(asked, out.mesh);
  if (!wanted) return wanted.why();
  inference_wishes wishes;
  if (given->has("across")) {
    const auto permitted = read_axes(str(given->words("across")), out.mesh);
    if (!permitted) return permitted.why();
    wishes.permitted = *permitted;
  }
  if (!wanted->empty()) wishes.wanted = &(*wanted)[0].layout;
  operation_inference found = infer_operation(out.mesh, *entry, *given, operands, wishes);
  if (!found.ok()) {
    refusal why = refused_operation(out.mesh, found);
    const auto count = static_cast<int>(asked.operands.size());
    if (why.operand < 0 || why.operand >= count) return why;
    const std::string& words = asked.operands[static_cast<std::size_t>(why.operand)];
    return located(std::move(why), "operands", words);
  }
  out.flops = found.flops;
  for (const paper_reshard& step : found.reshards)
    if (auto no = move(out, step)) return *std::move(no);
  if (auto no = move_results(out, found.results, *wanted)) return *std::move(no);
  for (const tensor_desc& made : found.results) {
    out.results.push_back(str(to_text(out.mesh, made)));
    out.pending.push_back(labels_of(out.mesh, made.layout.pending));
  }
  return out;
}

}  // namespace detail

/// What is asked for, or a refusal that has reshards, if only none.
[[nodiscard]] inline outcome<inferred> infer(const request& asked, workspace& memory) {
  auto found = detail::infer_as_asked(asked, memory);
  if (found || found.why().reshards) return found;
  refusal why = found.why();
  why.reshards.emplace();
  return why;
}

inline void write_json(json_writer& out, const inferred& found) {
  out.open('{');
  out.key("result");
  if (found.results.size() == 1)
    out.value(std::string_view(found.results[0]));
  else
    out.words(found.results);
  out.key("pending");
  out.open('[');
  for (const auto& axes : found.pending) out.words(axes);
  out.close(']');
  out.key("collectives");
  out.open('[');
  for (const planned_transfer& move : found.moves) {
    out.open('{');
    out.key("kind");
    out.value(view(to_text(move.kind)));
    out.key("axes");
    out.open('[');
    for (const std::uint8_t a : moving_axes(found.mesh, move))
      out.value(view(found.mesh.axes[a].label));
    out.close(']');
    out.key("bytes");
    out.value(move.total_bytes());
    out.close('}');
  }
  out.close(']');
  out.key("flops");
  out.value(found.flops);
  out.close('}');
}

[[nodiscard]] inline std::string to_text(const inferred& found) {
  text_table rows;
  for (const std::string& type : found.results) rows.row({"result", type});
  for (const planned_transfer& move : found.moves) {
    std::string axes;
    for (const std::uint8_t a : moving_axes(found.mesh, move))
      axes += (axes.empty() ? "" : ", ") + str(found.mesh.axes[a].label);
    rows.row({"collective", str(to_text(move.kind)) + " over " + axes + ", " +
                                std::to_string(move.total_bytes()) + " B"});
  }
  rows.row({"flops", std::to_string(found.flops)});
  return rows.words();
}

}  // namespace tool
