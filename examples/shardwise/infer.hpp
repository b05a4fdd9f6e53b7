// SPDX-License-Identifier: BSL-1.0
// What an operation makes of operands.
#pragma once

#include "read_subject.hpp"
#include "text_table.hpp"
#include <shardwise/notation/jax_type.hpp>
#include <shardwise/operation/infer_operation.hpp>
#include <shardwise/plan/paper_moves.hpp>

namespace tool {

/// The answer to `shardwise infer`.
struct inferred {
  std::vector<std::string> results;
  std::vector<planned_transfer> moves;
  mesh_desc mesh{};
  index_t flops = 0;
};

/// Reads the type of a tensor, of known extents, as a mesh and a layout allow it.
[[nodiscard]] inline tensor_desc read_type(const std::string& words, const mesh_desc& mesh) {
  const read_tensor read = parse_shown_type(text_view(words), mesh);
  if (!read.verdict.ok()) refuse_text("type_is_malformed", read.verdict);
  for (const index_t size : read.tensor.extents)
    if (size == dyn) throw refusal("extent_is_unknown", "the extents of a type are numbers here");
  judge(validate(mesh, read.tensor.layout));
  judge(validate(mesh, read.tensor.layout, read.tensor.extents));
  return read.tensor;
}

/// The axes that `--across` names, a bit for each.
[[nodiscard]] inline unsigned read_axes(const std::string& words, const mesh_desc& mesh) {
  unsigned bits = 0;
  text_reader in{text_view(words)};
  shardwise::detail::layout_axes axes(mesh);
  do {
    bits |= 1U << axes.read(in);
  } while (in.accept(','));
  if (const parse_verdict verdict = in.finish(); !verdict.ok())
    throw refusal("parameter_is_malformed", "--across: " + str(verdict.reason));
  return bits;
}

/// The arguments of an operation among the options of a request.
[[nodiscard]] inline operation_arguments read_operation_arguments(
    const request& asked, const catalogued_operation& entry) {
  operation_arguments given;
  // One dimension is a list of dimensions too, and the other way round.
  const auto takes = [&](text_view name) {
    return shardwise::detail::takes_parameter(entry, name);
  };
  for (const parameter_desc& one : parameters) {
    const auto& value = asked.get(view(one.name));
    if (!value) continue;
    text_view name = one.name;
    if (!takes(name) && name == "dims" && takes("dim"))
      name = "dim";
    else if (!takes(name) && name == "dim" && takes("dims"))
      name = "dims";
    const parse_verdict read = given.set(name, text_view(*value));
    if (!read.ok())
      throw refusal("parameter_is_malformed", "--" + str(one.name) + ": " + str(read.reason) +
                                                  (one.example.empty() ? "" : ", as ") +
                                                  str(one.example));
  }
  const argument_fault fault = check_arguments(entry, given);
  if (!fault.missing.empty())
    throw refusal("option_is_missing", "this operation needs --" + str(fault.missing));
  if (!fault.too_long.empty())
    throw refusal("parameter_is_malformed",
                  "--" + str(fault.too_long) + ": this operation has room for at most " +
                      std::to_string(attributes{}.integers.capacity()) + " numbers in all");
  if (fault.has_unknown)
    throw refusal("option_is_unknown", entry.parameters.empty()
                                           ? in_quotes(view(entry.name)) + " has no parameters"
                                           : "the parameters of " + in_quotes(view(entry.name)) +
                                                 " are: " + str(entry.parameters));
  return given;
}

[[noreturn]] inline void refuse_operation(const mesh_desc& mesh, const operation_inference& found) {
  std::vector<std::string> reshards;
  for (const tensor_desc& operand : found.legal) reshards.push_back(str(to_text(mesh, operand)));
  if (!found.misuse.empty())
    throw refusal(str(found.misuse),
                  found.misuse == "elements_are_no_integers"
                      ? "bitwise operations and shifts need integers"
                      : "roots, exponentials and means need floating-point elements",
                  std::move(reshards));
  const std::string code = str(name_of(found.verdict.rule));
  std::vector<std::string> across;
  for (int a = 0; a < mesh.rank(); ++a)
    if ((found.to_permit >> a & 1U) != 0) across.push_back(str(mesh.axes[a].label));
  throw refusal(code, str(describe(found.verdict)).substr(code.size() + 2), std::move(reshards),
                std::move(across));
}

/// The types of several results, which have semicolons between them.
[[nodiscard]] inline std::vector<std::string> types_of(const std::string& words) {
  std::vector<std::string> all(1);
  for (const char c : words)
    if (c == ';')
      all.emplace_back();
    else
      all.back() += c;
  return all;
}

/// Adds the collectives that give a tensor another layout, or one on manual axes.
inline void move(inferred& out, const paper_reshard& asked) {
  const redistribution way = moves_of(out.mesh, asked);
  judge(way.verdict);
  for (const planned_transfer& step : way.moves)
    if (!moving_axes(out.mesh, step).empty()) out.moves.push_back(step);
}

[[nodiscard]] inline inferred infer_as_asked(const request& asked, workspace& memory) {
  device_buffer buffer = memory.buffer();
  subject about;
  if (!asked.has("mesh")) throw refusal("option_is_missing", "this needs --mesh");
  read_mesh_of(asked, about, buffer);
  inferred out;
  out.mesh = *about.mesh;
  const catalogued_operation* const entry = find_operation(text_view(asked.need("op")));
  if (entry == nullptr)
    throw refusal("operation_is_unknown",
                  in_quotes(*asked.get("op")) + " is no operation; `operations` lists them");
  const operation_arguments given = read_operation_arguments(asked, *entry);
  tensor_descs operands;
  for (const std::string& words : asked.operands) {
    if (operands.full())
      judge({.rule = violation::operand_count_differs,
             .have = static_cast<index_t>(asked.operands.size()),
             .want = max_operands});
    operands.push_back(read_type(words, out.mesh));
  }
  std::vector<tensor_desc> wanted;
  if (asked.has("out"))
    for (const std::string& words : types_of(*asked.get("out")))
      wanted.push_back(read_type(words, out.mesh));
  inference_wishes wishes;
  if (given.has("across")) wishes.permitted = read_axes(str(given.words("across")), out.mesh);
  if (!wanted.empty()) wishes.wanted = &wanted[0].layout;
  operation_inference found = infer_operation(out.mesh, *entry, given, operands, wishes);
  if (!found.ok()) refuse_operation(out.mesh, found);
  out.flops = found.flops;
  for (const paper_reshard& step : found.reshards) move(out, step);
  if (!wanted.empty() && wanted.size() != found.results.size())
    throw refusal("result_type_differs",
                  "--out has a type for each result, with ';' between them; there are " +
                      std::to_string(found.results.size()));
  for (std::size_t r = 0; r < wanted.size(); ++r) {
    tensor_desc& made = found.results[r];
    if (wanted[r].extents != made.extents || wanted[r].type != made.type)
      throw refusal("result_type_differs",
                    "the result is " + str(to_text(out.mesh, made)) +
                        ": --out has the same elements and extents, and another layout");
    move(out, {made, wanted[r].layout, {}});
    made = wanted[r];
  }
  for (const tensor_desc& made : found.results) out.results.push_back(str(to_text(out.mesh, made)));
  return out;
}

/// What is asked for, or a refusal that has reshards, if only none.
[[nodiscard]] inline inferred infer(const request& asked, workspace& memory) {
  try {
    return infer_as_asked(asked, memory);
  } catch (const refusal& refused) {
    if (refused.reshards()) throw;
    throw refusal(refused.code(), refused.what(), std::vector<std::string>{});
  }
}

inline void write_json(json_writer& out, const inferred& found) {
  out.open('{');
  out.key("result");
  if (found.results.size() == 1)
    out.value(std::string_view(found.results[0]));
  else
    out.words(found.results);
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
