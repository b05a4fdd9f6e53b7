// SPDX-License-Identifier: BSL-1.0
// The operations of the library, as a list and as a page.
#pragma once

#include "infer.hpp"
#include <shardwise/operation/catalogue_example.hpp>

namespace tool {

/// What the list says of one operation.
struct listed_operation {
  const catalogued_operation* entry = nullptr;
  std::vector<std::string> parameters;
  std::vector<std::string> pending;
};
struct operation_list {
  std::vector<listed_operation> all;
  mesh_desc mesh{};
  bool as_page = false;
};

namespace detail {

/// The mesh of the examples.
inline constexpr std::string_view example_mesh = "x=2,y=2";

/// The example of an operation as a request.
[[nodiscard]] inline request example_request(const catalogued_operation& entry) {
  request asked;
  asked.what = infer_command;
  asked.replace("mesh", std::string(example_mesh));
  asked.replace("op", str(entry.name));
  for (const std::string_view words : split(view(entry.operands), ' '))
    asked.operands.emplace_back(words);
  for (const std::string_view words : split(view(entry.arguments), ' ')) {
    const std::size_t equals = words.find('=');
    asked.replace(words.substr(0, equals), std::string(words.substr(equals + 1)));
  }
  return asked;
}

}  // namespace detail

[[nodiscard]] inline outcome<operation_list> list_operations(const request& asked,
                                                             workspace& memory) {
  if (!asked.operands.empty())
    return refusal("argument_is_unexpected", "the list has no operands").of("operands");
  operation_list out;
  out.as_page = asked.has("markdown");
  subject about;
  device_buffer buffer = memory.buffer();
  if (auto no = take_mesh(about, detail::example_mesh, buffer)) return *no;
  out.mesh = *about.mesh;
  for (const catalogued_operation& entry : catalogue) {
    listed_operation one{&entry, {}, {}};
    text_reader in(entry.parameters);
    for (text_view name = in.word(); !name.empty(); name = in.word()) {
      one.parameters.push_back(str(name));
      in.accept('?');
    }
    for (const reduction kind :
         {reduction::sum, reduction::product, reduction::max, reduction::min})
      if (passes_pending(out.mesh, entry, kind)) one.pending.push_back(str(to_text(kind)));
    out.all.push_back(std::move(one));
  }
  return out;
}

inline void write_json(json_writer& out, const operation_list& found) {
  out.open('[');
  for (const listed_operation& one : found.all) {
    out.open('{');
    out.key("name");
    out.value(view(one.entry->name));
    out.key("parameters");
    out.words(one.parameters);
    out.key("operands");
    out.numbers(std::vector<int>{one.entry->least, one.entry->most});
    out.key("pending");
    out.words(one.pending);
    out.key("differentiable");
    out.boolean(one.entry->is_differentiable);
    out.key("example");
    write_json(out, detail::example_request(*one.entry));
    out.close('}');
  }
  out.close(']');
}

namespace detail {

/// Returns how a program calls an operation: by its name, unless it has several modes or is in a
/// namespace of its own.
[[nodiscard]] inline std::string call_of(text_view name) {
  static constexpr text_view matrices[] = {
      "cholesky",    "triangular_solve", "solve", "inverse", "pinv", "matrix_power",       "lstsq",
      "determinant", "slogdet",          "qr",    "eigh",    "svd",  "householder_product"};
  static constexpr text_view transforms[] = {"fft", "ifft", "rfft", "irfft"};
  for (const text_view one : matrices)
    if (name == one) return "linalg::" + str(name);
  for (const text_view one : transforms)
    if (name == one) return "fourier::" + str(name);
  std::string words = str(name);
  for (const std::string family : {"scatter", "put_along"})
    if (words.rfind(family + "_", 0) == 0)
      return family + "<dim, scatter_mode::" + words.substr(family.size() + 1) + ">";
  if (words == "repeat_counts") return "repeat<dim, count, count...>";
  if (words == "subtract_constant") return "elementwise<functions::subtract_constant>";
  return words;
}

[[nodiscard]] inline std::string listed(const std::vector<std::string>& words,
                                        std::string_view otherwise) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out.empty() ? std::string(otherwise) : out;
}
[[nodiscard]] inline std::string count_of(const catalogued_operation& entry) {
  const std::string least = std::to_string(entry.least);
  return entry.least == entry.most ? least : least + " to " + std::to_string(entry.most);
}
/// A cell of a table in Markdown.
[[nodiscard]] inline std::string cell(std::string words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == '|') words.insert(i++, 1, '\\');
  return " " + words + " |";
}
/// The dimensions of the example's operands that may be split, with what becomes of it.
[[nodiscard]] inline std::string splits_of(const mesh_desc& mesh,
                                           const catalogued_operation& entry) {
  const tensor_descs operands = example_of(mesh, entry).operands;
  std::vector<std::string> passing;
  for (int o = 0; o < operands.ssize(); ++o) {
    std::string dims;
    for (int d = 0; d < operands[o].rank(); ++d) {
      if (operands[o].extents[d] == 1) continue;
      const operation_inference made = infer_split(mesh, entry, o, d);
      if (!made.ok()) continue;
      dims += (dims.empty() ? "" : ", ") + std::to_string(d);
      if (made.results[0].layout.pending != 0)
        dims += " (pending " + str(to_text(made.results[0].layout.kind)) + ")";
    }
    if (!dims.empty()) passing.push_back(std::string(1, static_cast<char>('a' + o)) + ": " + dims);
  }
  std::string out;
  for (const std::string& one : passing) out += (out.empty() ? "" : "; ") + one;
  return out.empty() ? "none" : out;
}

}  // namespace detail

/// Returns the page of all operations: a table of what their rules return for the examples.
[[nodiscard]] inline std::string to_page(const operation_list& found) {
  std::string out =
      "# Operations\n\n"
      "`shardwise operations --markdown` generates this page from the rules of the operations.\n\n"
      "- **Operation**: its name, which is that of the function in C++; where C++ writes the call "
      "differently,\n"
      "  how it does.\n"
      "- **Example**: operands `a`, `b`, ... and parameters, in the syntax of `shardwise infer`.\n"
      "  Parameters marked with `?` are optional.\n"
      "- **May be split**: the dimensions of the example's operands that can be split, one at a "
      "time,\n"
      "  without communication; after \"(pending sum)\", the result is then a pending sum. A split "
      "of\n"
      "  any other dimension is an error that suggests a `reshard`. In examples, `{V:y}` marks an\n"
      "  axis `y` that is manual.\n"
      "- **Pending**: the pending reductions that at least one operand may have; the result has "
      "the same ones.\n"
      "- **Gradient**: whether `gradient(f)` can differentiate the operation.\n"
      "- **Peers**: its names in NumPy, JAX, PyTorch or XLA.\n\n"
      "| operation | parameters | example | may be split | pending | gradient | peers |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const listed_operation& one : found.all) {
    const catalogued_operation& entry = *one.entry;
    std::string example = "`" + str(entry.operands) + "`";
    if (!entry.arguments.empty()) example += " `" + str(entry.arguments) + "`";
    std::string name = "`" + str(entry.name) + "`";
    if (const std::string call = detail::call_of(entry.name); call != str(entry.name))
      name += ", in C++ `" + call + "`";
    out += "|" + detail::cell(name) +
           detail::cell(entry.parameters.empty() ? "" : "`" + str(entry.parameters) + "`") +
           detail::cell(example) + detail::cell(detail::splits_of(found.mesh, entry)) +
           detail::cell(detail::listed(one.pending, "none")) +
           detail::cell(entry.is_differentiable ? "yes" : "no") + detail::cell(str(entry.peers)) +
           "\n";
  }
  return out;
}

[[nodiscard]] inline std::string to_text(const operation_list& found) {
  if (found.as_page) return to_page(found);
  text_table rows;
  rows.row({"name", "operands", "pending", "gradient", "parameters"});
  for (const listed_operation& one : found.all)
    rows.row({str(one.entry->name), detail::count_of(*one.entry),
              detail::listed(one.pending, "none"), one.entry->is_differentiable ? "yes" : "no",
              detail::listed(one.parameters, "")});
  return rows.words();
}

}  // namespace tool
