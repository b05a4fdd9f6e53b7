// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/lowered_program.hpp"
#include "shardwise/engine/reached_nodes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace shardwise {

/// A run-time graph as a planned program, the same as `trace_program` records on paper and planned
/// in the same way. It refers to no tensors.
struct lowered_graph {
  /// Where the node of a step comes from.
  struct node_origin {
    /// The position among the computed nodes that were reached, or among the pending ones; -1 for a
    /// step whose result is not the value of a node.
    std::int32_t reached = -1;
    /// For such a step, the position of the pending node to which it belongs.
    std::int32_t owner = -1;
  };

  lowered_program program;
  /// By step.
  internal::growable<node_origin> origins;
  /// By step, true if it equals the whole computation of its node, which is compiled as a loop.
  internal::growable<bool> are_loops;
};

/// The nodes of a graph that runs.
struct graph_nodes {
  /// By step: inputs, and nodes that get results. The latter are held until they have been
  /// computed, so that a failure can reach all that remain; afterwards their readers determine
  /// their lifetime.
  internal::growable<node_ptr> of_steps;
  /// The pending nodes, in the order in which they were created.
  internal::growable<std::weak_ptr<tensor_node>> pending;
};

namespace internal {

/// Lowers the nodes of a graph to the instructions of a program, and plans it.
class graph_lowering {
 public:
  graph_lowering(lowered_graph& graph, const reached_nodes& reached)
      : graph_(graph),
        program_(graph.program),
        reached_(reached),
        capacity_(static_cast<std::int32_t>(reached.ready().size())) {
    for (const reached_node& at : reached.pending()) capacity_ += at.node->task()->instructions();
    program_.works.resize(static_cast<std::size_t>(capacity_));
    values_.resize(static_cast<std::size_t>(capacity_));
  }

  void lower(std::span<tensor_node* const> roots) {
    program_.resize(capacity_, static_cast<std::int32_t>(roots.size()));
    program_builder code(program_);
    code.place(roots.front()->home()->mesh());
    described_program described(code, program_.works);
    for (const reached_node& at : reached_.ready()) {
      const value_id first = program_.count;
      enter(code, at, first, code.append(operation_of<input_operation>, {}, {}, at.node->tensor()));
    }
    std::int32_t position = 0;
    for (const reached_node& at : reached_.pending()) {
      inplace_vector<value_id, max_fused_operands> read;
      for (const node_ptr& operand : at.node->task()->operands()) read.push_back(operand->number);
      const value_id first = program_.count;
      enter(code, at, first, at.node->task()->describe(described, {read.begin(), read.size()}));
      for (value_id i = first; i < program_.count; ++i) value(i).owner = position;
      ++position;
    }
    for (tensor_node* root : roots) code.keep(root->number);
  }

  /// Forms the steps and determines lifetimes. Values held by handles outside the graph are kept
  /// after the run, and an input that none of them holds is donated; this affects only memory.
  void plan(bool labels) {
    program_.form(labels);
    find_read_later();
    const std::size_t count = program_.steps.size();
    graph_.origins.resize(count);
    graph_.are_loops.resize(count);
    for (std::size_t s = 0; s < count; ++s) {
      step_desc& step = program_.steps[s];
      const value_note& root = value(step.root);
      if (root.of == nullptr) {
        graph_.origins[s].owner = root.owner;
        continue;
      }
      if (step.kind == step_kind::input) {
        step.donated = !root.is_read_later && root.of->is_free;
        graph_.origins[s].reached = step.root;
        continue;
      }
      graph_.origins[s].reached = root.owner;
      step.kept = step.kept || root.is_read_later || root.of->is_held;
      graph_.are_loops[s] =
          root.of->node->task()->work().loop && step.viewed == 0 && is_whole_pass(step.root);
    }
    program_.plan_lives();
  }

 private:
  /// What is known of the value of an instruction.
  struct value_note {
    /// The node that has this value; null for other values of a node.
    const reached_node* of = nullptr;
    /// The first instruction of that node.
    value_id first = -1;
    /// The position of the pending node to which the instruction belongs; -1 for an input.
    std::int32_t owner = -1;
    /// True for a value that must be kept for later: the operand of a node that handles still hold,
    /// but that this program does not store, because it computes it inside a pass or reads through
    /// it.
    bool is_read_later = false;
    /// How many instructions the pass has that ends with this one, besides numbers.
    std::int32_t members = 0;
  };
  [[nodiscard]] value_note& value(value_id i) noexcept {
    return values_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] bool is_number(value_id i) const noexcept {
    return is_constant(*program_.code[static_cast<std::size_t>(i)].what);
  }

  void enter(program_builder& code, const reached_node& at, value_id first, value_id id) {
    at.node->number = id;
    value(id).of = &at;
    value(id).first = first;
    if (at.node->named()) code.name(id);
  }
  void find_read_later() {
    for (value_id i = program_.count - 1; i >= 0; --i) {
      const value_note& inner = value(i);
      if (inner.of == nullptr || inner.of->node->ready() || root_of(i) == i) continue;
      if (!inner.is_read_later && !inner.of->is_held) continue;
      for (const node_ptr& operand : inner.of->node->task()->operands())
        value(operand->number).is_read_later = true;
    }
  }
  [[nodiscard]] value_id root_of(value_id i) const noexcept {
    return program_.notes[static_cast<std::size_t>(i)].root;
  }
  /// Returns true if the pass that ends with an instruction consists exactly of the instructions of
  /// its node.
  [[nodiscard]] bool is_whole_pass(value_id root) noexcept {
    if (!are_counted_) count_members();
    std::int32_t own = 0;
    for (value_id i = value(root).first; i <= root; ++i) {
      if (is_number(i)) continue;
      if (root_of(i) != root) return false;
      ++own;
    }
    return own == value(root).members;
  }
  void count_members() noexcept {
    are_counted_ = true;
    for (value_id i = 0; i < program_.count; ++i)
      if (const value_id root = root_of(i); root >= 0 && !is_number(i)) ++value(root).members;
  }

  lowered_graph& graph_;
  lowered_program& program_;
  const reached_nodes& reached_;
  std::int32_t capacity_;
  growable<value_note> values_;
  bool are_counted_ = false;
};

/// Lowers the nodes that were reached from `roots`; `labels` states whether steps get labels.
[[nodiscard]] inline lowered_graph lower(const reached_nodes& reached,
                                         std::span<tensor_node* const> roots, bool labels = true) {
  lowered_graph graph;
  graph_lowering lowering(graph, reached);
  lowering.lower(roots);
  lowering.plan(labels);
  return graph;
}

/// Returns the nodes of a lowered graph.
[[nodiscard]] inline graph_nodes nodes_of(const lowered_graph& graph,
                                          const reached_nodes& reached) {
  graph_nodes nodes;
  nodes.pending.reserve(reached.pending().size());
  for (const reached_node& at : reached.pending())
    nodes.pending.push_back(at.node->weak_from_this());
  const std::shared_ptr<pool_state>& home = reached.home();
  const lowered_program& program = graph.program;
  nodes.of_steps.reserve(program.steps.size());
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const step_desc& step = program.steps[s];
    const std::int32_t from = graph.origins[s].reached;
    if (from < 0) {
      // A part of an expression that is not fused.
      nodes.of_steps.push_back(std::make_shared<tensor_node>(
          home, home->place(step.result),
          *program.works[static_cast<std::size_t>(step.root)].kernel.elements));
      continue;
    }
    const auto& all = step.kind == step_kind::input ? reached.ready() : reached.pending();
    nodes.of_steps.push_back(all[static_cast<std::size_t>(from)].node->shared_from_this());
  }
  return nodes;
}

}  // namespace internal

/// Returns the program of everything pending that `roots` depend on. The caller holds the machine's
/// turn.
[[nodiscard]] inline lowered_program lower(std::span<tensor_node* const> roots) {
  return internal::lower(internal::reached_nodes(roots), roots).program;
}

}  // namespace shardwise
