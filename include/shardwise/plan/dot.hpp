// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/cluster.hpp"
#include "shardwise/plan/listing.hpp"

namespace shardwise {

namespace detail {

/// Writes a program as a graph in the language of Graphviz.
template <class Out>
class dot_writer {
 public:
  constexpr dot_writer(Out& out, const program_view& program, const cluster_note* notes) noexcept
      : out_(out), program_(program), notes_(notes) {}

  constexpr void write() {
    line("digraph program {\n  node [shape=box];\n");
    for (value_id i = 0; i < program_.count; ++i)
      if (notes_[i].is_read_through)
        write_value(i, "  ");
      else if (notes_[i].root == i && !is_constant(program_.what(i)))
        write_pass(i);
    for (value_id i = 0; i < program_.count; ++i)
      for (value_id o : program_.code[i].operands)
        if (!is_constant(program_.what(o))) {
          bounded_text<60> edge;
          edge << "  v" << o << " -> v" << i << ";\n";
          line(edge);
        }
    line("}\n");
  }

 private:
  constexpr void line(text_view words) { out_ << words; }

  /// Writes the values of one pass, in a frame if there are several.
  constexpr void write_pass(value_id root) {
    int members = 0;
    for (value_id i = 0; i <= root; ++i) members += is_member(i, root) ? 1 : 0;
    bounded_text<60> frame;
    frame << "  subgraph cluster_" << root << " {\n    style=dashed;\n";
    if (members > 1) line(frame);
    for (value_id i = 0; i <= root; ++i)
      if (is_member(i, root)) write_value(i, members > 1 ? "    " : "  ");
    if (members > 1) line("  }\n");
  }
  [[nodiscard]] constexpr bool is_member(value_id i, value_id root) const noexcept {
    return notes_[i].root == root && !is_constant(program_.what(i));
  }

  constexpr void write_value(value_id i, text_view indent) {
    const instruction& at = program_.code[i];
    bounded_text<600> node;
    node << indent << 'v' << i << " [label=\"%" << i << ' ';
    node << text_view(label_of(*at.what, program_.how(i)));
    for (value_id o : at.operands)
      if (is_constant(program_.what(o))) write_constant(node << ' ', program_.how(o));
    node << "\\n" << text_view(to_text(*program_.mesh, program_.values[i])) << '"';
    if (is_input(*at.what)) node << ", shape=ellipse";
    if (at.kept) node << ", peripheries=2";
    if (at.named && !at.kept) node << ", style=bold";
    if (notes_[i].is_read_through) node << ", style=dotted";
    node << "];\n";
    line(node);
  }

  Out& out_;
  const program_view& program_;
  const cluster_note* notes_;
};

}  // namespace detail

/// Writes a program as a graph for Graphviz: a node for each value with its operation and layout;
/// inputs are round, named values bold, and results have double borders; each pass is a frame, and
/// views that are read in place are dotted. Numbers are part of the labels of the operations that
/// read them.
///
/// `Out` must have `operator<<` for `text_view`: a `bounded_text` in constant expressions, or any
/// stream.
///
///     write_dot(file, trace_program(layer, abstract<X>(), abstract<W>()));   // dot -Tsvg file
template <class Out, std::size_t Capacity>
constexpr void write_dot(Out& out, const traced_program<Capacity>& recorded) {
  cluster_note notes[Capacity]{};
  const program_view view = recorded.view();
  form_clusters(view, notes);
  detail::dot_writer<Out>(out, view, notes).write();
}

}  // namespace shardwise
