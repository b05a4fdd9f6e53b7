// SPDX-License-Identifier: BSL-1.0
// From a request to the types and the arguments of an operation.
#pragma once

#include "read_subject.hpp"
#include <shardwise/notation/jax_type.hpp>
#include <shardwise/operation/infer_operation.hpp>

namespace tool {

/// Reads the type of a tensor, of known extents, as a mesh and a layout allow it.
[[nodiscard]] inline outcome<tensor_desc> read_type(const std::string& words,
                                                    const mesh_desc& mesh) {
  const read_tensor read = parse_shown_type(text_view(words), mesh);
  if (!read.verdict.ok()) return unread("type_is_malformed", read.verdict);
  for (const index_t size : read.tensor.extents)
    if (size == dyn) return refusal("extent_is_unknown", "the extents of a type are numbers here");
  if (auto no = judge(validate(mesh, read.tensor.layout))) return *no;
  if (auto no = judge(validate(mesh, read.tensor.layout, read.tensor.extents))) return *no;
  return read.tensor;
}

/// The labels of axes, of which the bits are set.
[[nodiscard]] inline std::vector<std::string> labels_of(const mesh_desc& mesh, unsigned bits) {
  std::vector<std::string> labels;
  for (int a = 0; a < mesh.rank(); ++a)
    if ((bits >> a & 1U) != 0) labels.push_back(str(text_view(mesh.axes[a].label)));
  return labels;
}

/// Completes why an option is no text on a mesh: names in it are those of the axes.
[[nodiscard]] inline refusal located_on(const mesh_desc& mesh, refusal why, std::string_view option,
                                        std::string_view words, int operand = -1) {
  why = located(std::move(why), option, words);
  why.operand = operand;
  why.choices = labels_of(mesh, ~0U);
  return why;
}

/// The axes that `--across` names, a bit for each.
[[nodiscard]] inline outcome<unsigned> read_axes(const std::string& words, const mesh_desc& mesh) {
  unsigned bits = 0;
  text_reader in{text_view(words)};
  shardwise::detail::layout_axes axes(mesh);
  do {
    bits |= 1U << axes.read(in);
  } while (in.accept(','));
  const parse_verdict verdict = in.finish();
  if (verdict.ok()) return bits;
  refusal why("parameter_is_malformed", "--across: " + str(verdict.reason));
  why.at = verdict.position;
  return located_on(mesh, std::move(why), "across", words);
}

/// The arguments of an operation among the options of a request.
[[nodiscard]] inline outcome<operation_arguments> read_operation_arguments(
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
    if (read.ok()) continue;
    refusal why("parameter_is_malformed", "--" + str(one.name) + ": " + str(read.reason) +
                                              (one.example.empty() ? "" : ", as ") +
                                              str(one.example));
    why.at = read.position;
    return located(std::move(why), view(one.name), *value);
  }
  const argument_fault fault = check_arguments(entry, given);
  if (!fault.missing.empty())
    return refusal("option_is_missing", "this operation needs --" + str(fault.missing))
        .about(view(fault.missing));
  if (!fault.too_long.empty())
    return refusal("parameter_is_malformed",
                   "--" + str(fault.too_long) + ": this operation has room for at most " +
                       std::to_string(attributes{}.integers.capacity()) + " numbers in all")
        .of(view(fault.too_long));
  if (fault.has_unknown) {
    refusal why("option_is_unknown", entry.parameters.empty()
                                         ? in_quotes(view(entry.name)) + " has no parameters"
                                         : "the parameters of " + in_quotes(view(entry.name)) +
                                               " are: " + str(entry.parameters));
    for (const parameter_desc& one : parameters)
      if (asked.has(view(one.name)) && !takes(one.name)) why.option = str(one.name);
    return why;
  }
  return given;
}

/// The name of an operation that is not in the catalogue.
[[nodiscard]] inline refusal unknown_operation(const std::string& words) {
  std::vector<std::string> all;
  all.reserve(std::size(catalogue));
  for (const catalogued_operation& entry : catalogue) all.push_back(str(entry.name));
  return located(refusal("operation_is_unknown",
                         in_quotes(words) + " is no operation; `operations` lists them")
                     .about(words, std::move(all)),
                 "op", words);
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

}  // namespace tool
