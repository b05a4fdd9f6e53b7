// SPDX-License-Identifier: BSL-1.0
// Programs that the tests export: every operation of the catalogue on its example.
#pragma once

#include <shardwise/engine/stored_program.hpp>
#include <shardwise/export.hpp>
#include <shardwise/operation/catalogue.hpp>
#include <shardwise/operation/catalogue_example.hpp>
#include <shardwise/plan.hpp>
#include <shardwise/plan/differentiate.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace exported {

using namespace shardwise;

/// Returns a mesh on which examples are split: the last axis is called y in the catalogue.
inline mesh_desc mesh_of_examples() {
  mesh_desc mesh;
  mesh.axes.push_back({short_name("x"), 2});
  mesh.axes.push_back({short_name("y"), 2});
  return mesh;
}

/// A program of one operation on inputs like those of its example, with all of its results.
struct example_program {
  stored_program code{64, 8};
  bool is_made = false;
};

/// Returns the program of an entry that is one instruction; empty for compositions, and if the
/// operands are refused.
inline example_program program_of(const mesh_desc& mesh, const catalogued_operation& entry,
                                  const tensor_descs& operands) {
  example_program out;
  program_builder to(out.code);
  to.place(mesh);
  const operation_example example = example_of(mesh, entry);
  const operation_inference made = infer_operation(mesh, entry, example.given, operands);
  if (!made.ok() || (entry.what == nullptr && entry.called == nullptr)) return out;
  value_ids inputs;
  for (const tensor_desc& each : operands) {
    // What is manual has been entered: a tensor that is split over the axis.
    tensor_desc whole = each;
    const bool enters = each.layout.manual != 0 && each.layout.splitting_axes().empty();
    if (enters) {
      whole.layout.manual = 0;
      whole.layout.dims[0].push_back(static_cast<std::uint8_t>(mesh.rank() - 1));
      whole.extents[0] *= mesh.size(mesh.rank() - 1);
    }
    value_id given = to.append(operation_of<input_operation>, {}, {}, whole);
    if (enters)
      given = to.append(operation_of<manual_operation>, manual_operation::how(true), {given}, each);
    inputs.push_back(given);
  }
  value_id first = -1;
  if (entry.called != nullptr) {
    diagnosis verdict;
    const manual_collective called = entry.called(mesh, example.given, verdict);
    first = append_manual(to, inputs[0], called);
    tensor_desc left = to.value(first);
    if (left.layout.manual != 0 && left.layout.splitting_axes().empty()) {
      left.layout.manual = 0;
      left.layout.dims[0].push_back(static_cast<std::uint8_t>(mesh.rank() - 1));
      left.extents[0] *= mesh.size(mesh.rank() - 1);
      first =
          to.append(operation_of<manual_operation>, manual_operation::how(false), {first}, left);
    }
  } else {
    const operation_arguments given =
        detail::arguments_from_front(entry, example.given, operands[0].rank());
    first = to.append(*entry.what, attributes_of(entry, given, operands), inputs, made.results[0]);
  }
  if (!entry.gives_indices_alone) to.keep(first);
  for (int r = 1; r < static_cast<int>(made.results.size()); ++r)
    to.keep(to.append(operation_of<result_operation>, result_operation::how(r), {first},
                      made.results[r]));
  if (entry.gives_indices_alone) {
    tensor_desc values = made.results[0];
    values.type = operands[0].type;
    out.code.values[static_cast<std::size_t>(first)] = values;
    to.keep(to.append(operation_of<result_operation>, result_operation::how(1), {first},
                      made.results[0]));
  }
  out.is_made = true;
  return out;
}

/// Returns the program of the gradient of an operation on operands like those of its example: the
/// cotangent of its result is the last input. Empty if it has none.
inline example_program gradient_of(const mesh_desc& mesh, const catalogued_operation& entry,
                                   const tensor_descs& operands) {
  example_program out;
  out.code.resize(512, 16);
  program_builder to(out.code);
  to.place(mesh);
  if (entry.what == nullptr || entry.what->gradient == nullptr) return out;
  const operation_example example = example_of(mesh, entry);
  const operation_arguments given =
      detail::arguments_from_front(entry, example.given, operands[0].rank());
  const attributes how = attributes_of(entry, given, operands);
  if (!entry.check_elements(how, operands).ok()) return out;
  value_ids inputs, wanted;
  for (const tensor_desc& each : operands) {
    inputs.push_back(to.append(operation_of<input_operation>, {}, {}, each));
    if (has_fractions(each.type)) wanted.push_back(inputs[inputs.ssize() - 1]);
  }
  const value_id result = to.emit(*entry.what, how, inputs);
  if (wanted.empty() || !has_fractions(to.value(result).type)) return out;
  differentiation gradient(to, 0, wanted);
  gradient.seed(result, to.append(operation_of<input_operation>, {}, {}, to.value(result)));
  gradient.run();
  value_ids found;
  for (const value_id i : wanted) found.push_back(gradient.cotangent_of(i, to.value(i).layout));
  for (const value_id i : found) to.keep(i);
  out.is_made = true;
  return out;
}

/// Keeps a module for mlir-opt, if the environment names a folder for it.
inline void keep_module(const std::string& name, const std::string& text) {
  const char* const folder = std::getenv("SHARDWISE_EXPORT_TO");
  if (folder == nullptr) return;
  std::string file;
  for (const char c : name)
    file += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  std::ofstream(std::filesystem::path(folder) / (file + ".mlir")) << text;
}

/// Exports a program in every form that it has, and keeps the modules. Returns why the global form
/// with the strings of HLO does not exist, or nothing.
inline std::string keep_all_forms(const std::string& name, const program_view& program) {
  const exported_text hlo = export_stablehlo(program);
  if (hlo.ok()) keep_module(name + " hlo", hlo.text);
  const exported_text sdy = export_stablehlo(program, {.shardings = sharding_form::sdy});
  if (sdy.ok()) keep_module(name + " sdy", sdy.text);
  const exported_text local = export_stablehlo(program, {.form = export_form::per_device});
  if (local.ok()) keep_module(name + " local", local.text);
  // A region of Shardy begins where a tensor enters it.
  for (value_id i = 0; i < program.count; ++i)
    if (is_input(program.what(i)) && program.values[i].layout.manual != 0) return hlo.advice;
  return hlo.ok() ? sdy.advice : hlo.advice;
}

}  // namespace exported
