// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/stored_program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace shardwise {

/// A run-time graph as a program value, the same as `trace_program` records on paper and planned in
/// the same way, with the nodes of its steps.
struct lowered_program : stored_program {
  /// The kernel of each instruction that is an operation, other than leaves and collectives.
  std::vector<operation_kernel> kernels;
  /// The last instruction of the pass of each instruction; see `form_clusters`.
  std::vector<cluster_note> notes;

  std::vector<step_desc> steps;
  std::vector<value_lifetime> lives;
  /// The node that gets the result of each step. Each is held until it has been computed, so that a
  /// failure can reach all that remain; afterwards its readers determine its lifetime. Null for
  /// inputs.
  std::vector<node_ptr> nodes;
  /// The pending nodes from which the program was lowered, in the order in which they were created.
  std::vector<std::weak_ptr<tensor_node>> pending;
  /// By step: for a step whose result is not the value of a node, the node to which it belongs;
  /// empty for others.
  std::vector<std::weak_ptr<tensor_node>> owners;
  /// The inputs, by step; null for other steps.
  std::vector<node_ptr> inputs;
  /// True for steps that equal the whole computation of their node, which is compiled.
  std::vector<bool> compiled;
};

/// Returns the cost of a planned program. Bodies of calls are part of it.
[[nodiscard]] inline cost_ledger ledger_of(const lowered_program& planned) noexcept {
  return summarize(planned.mesh, planned.steps.data(), planned.lives.data(),
                   static_cast<std::int32_t>(planned.steps.size()));
}

namespace detail {

/// Returns the steps that compute the results of a planned program, in order.
[[nodiscard]] inline std::vector<std::size_t> steps_of_results(const lowered_program& planned) {
  std::vector<std::size_t> step_of(static_cast<std::size_t>(planned.count));
  for (std::size_t s = 0; s < planned.steps.size(); ++s)
    step_of[static_cast<std::size_t>(planned.steps[s].root)] = s;
  std::vector<std::size_t> steps;
  steps.reserve(planned.results.size());
  for (const value_id result : planned.results)
    steps.push_back(step_of[static_cast<std::size_t>(result)]);
  return steps;
}

/// Nodes with numbers assigned, which are reset by the destructor, also after an exception.
class numbered_nodes {
 public:
  numbered_nodes() = default;
  numbered_nodes(const numbered_nodes&) = delete;
  numbered_nodes& operator=(const numbered_nodes&) = delete;
  ~numbered_nodes() {
    for (tensor_node* at : nodes_) at->number = -1;
  }

  void add(tensor_node& found) {
    nodes_.push_back(&found);
    found.number = 0;
  }
  /// Sorts pending nodes in the order in which they were created.
  void sort() noexcept {
    std::sort(nodes_.begin(), nodes_.end(), [](tensor_node* a, tensor_node* b) {
      return a->task()->sequence() < b->task()->sequence();
    });
  }
  [[nodiscard]] const std::vector<tensor_node*>& in_order() const noexcept { return nodes_; }

 private:
  std::vector<tensor_node*> nodes_;
};

/// The nodes of the graph reachable from some roots: pending ones in the order in which they were
/// created, and computed ones in the order in which the others read them.
struct reached_nodes {
  numbered_nodes pending;
  numbered_nodes ready;

  explicit reached_nodes(std::span<tensor_node* const> roots) {
    std::vector<tensor_node*> open;
    const auto meet = [&](tensor_node* found) {
      found->arrive();
      if (found->ready() || found->number >= 0) return;
      pending.add(*found);
      open.push_back(found);
    };
    for (tensor_node* root : roots) meet(root);
    while (!open.empty()) {
      pending_computation* task = open.back()->task();
      open.pop_back();
      for (const node_ptr& operand : task->operands()) meet(operand.get());
    }
    pending.sort();
    const auto enter = [&](tensor_node* found) {
      if (found->ready() && found->number < 0) ready.add(*found);
    };
    for (tensor_node* at : pending.in_order())
      for (const node_ptr& operand : at->task()->operands()) enter(operand.get());
    for (tensor_node* root : roots) enter(root);
  }
};

/// Lowers the nodes of a graph to the instructions of a program.
class program_lowering {
 public:
  program_lowering(lowered_program& program, const reached_nodes& reached)
      : program_(program), capacity_(static_cast<std::int32_t>(reached.ready.in_order().size())) {
    for (tensor_node* at : reached.pending.in_order()) capacity_ += at->task()->instructions();
    const auto size = static_cast<std::size_t>(capacity_);
    program.kernels.resize(size);
    node_of_.resize(size, nullptr);
    first_of_.resize(size, -1);
    owner_of_.resize(size, nullptr);
    program.pending.reserve(reached.pending.in_order().size());
    readers_.resize(size, 0);
  }

  void lower(const reached_nodes& reached, std::span<tensor_node* const> roots) {
    program_.resize(capacity_, static_cast<std::int32_t>(roots.size()));
    program_builder code(program_);
    home_ = roots.front()->home();
    code.place(home_->mesh());
    described_program described(code, program_.kernels);
    for (tensor_node* at : reached.ready.in_order()) {
      const value_id first = program_.count;
      number(code, at, first, code.append(operation_of<input_operation>, {}, {}, at->tensor()));
    }
    for (tensor_node* at : reached.pending.in_order()) {
      inplace_vector<value_id, max_fused_operands> read;
      for (const node_ptr& operand : at->task()->operands()) {
        read.push_back(operand->number);
        ++readers_[static_cast<std::size_t>(operand->number)];
      }
      const value_id first = program_.count;
      number(code, at, first, at->task()->describe(described, {read.begin(), read.size()}));
      for (value_id i = first; i < program_.count; ++i) owner_of_[static_cast<std::size_t>(i)] = at;
      program_.pending.push_back(at->weak_from_this());
    }
    for (tensor_node* root : roots) code.keep(root->number);
  }

  /// Forms the steps and determines lifetimes. Values held by handles outside the graph are kept
  /// after the run, and an input that none of them holds is donated; this affects only memory.
  void plan() {
    const auto size = static_cast<std::size_t>(program_.count);
    std::vector<std::int32_t> step_of(size);
    program_.notes.resize(size);
    program_.steps.resize(size);
    program_.steps.resize(static_cast<std::size_t>(
        form_steps(program_.view(), program_.notes.data(), step_of.data(), program_.steps.data())));
    count_members();
    find_read_later();
    program_.nodes.resize(program_.steps.size());
    program_.inputs.resize(program_.steps.size());
    program_.compiled.resize(program_.steps.size());
    program_.owners.resize(program_.steps.size());
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      step_desc& step = program_.steps[s];
      const auto root = static_cast<std::size_t>(step.root);
      tensor_node* const at = node_of_[root];
      if (step.kind == step_kind::input) {
        program_.inputs[s] = at->shared_from_this();
        // `owns_memory` orders what follows after the reads of handles that were released.
        step.donated = !read_later_[root] && program_.inputs[s].use_count() == 1 + readers_[root] &&
                       at->owns_memory();
        continue;
      }
      program_.nodes[s] = at != nullptr ? at->shared_from_this() : unnamed_result(step);
      if (at == nullptr) program_.owners[s] = owner_of_[root]->weak_from_this();
      program_.compiled[s] = at != nullptr && step.viewed == 0 && is_whole_pass(step.root);
      if (at != nullptr)
        step.kept =
            step.kept || read_later_[root] || program_.nodes[s].use_count() > 1 + readers_[root];
    }
    program_.lives.resize(program_.steps.size());
    plan_lifetimes(program_.steps.data(), static_cast<std::int32_t>(program_.steps.size()),
                   program_.lives.data());
  }

 private:
  void number(program_builder& code, tensor_node* at, value_id first, value_id id) {
    at->number = id;
    node_of_[static_cast<std::size_t>(id)] = at;
    first_of_[static_cast<std::size_t>(id)] = first;
    if (at->named()) code.name(id);
  }
  /// Finds the values that must be kept for later: operands of nodes that handles still hold, but
  /// that this program does not store, because it computes them inside a pass or reads through
  /// them.
  void find_read_later() {
    read_later_.resize(program_.notes.size(), false);
    for (value_id i = program_.count - 1; i >= 0; --i) {
      const auto at = static_cast<std::size_t>(i);
      tensor_node* const inner = node_of_[at];
      if (inner == nullptr || inner->ready() || program_.notes[at].root == i) continue;
      const bool is_held = inner->weak_from_this().use_count() > readers_[at];
      if (!is_held && !read_later_[at]) continue;
      for (const node_ptr& operand : inner->task()->operands())
        read_later_[static_cast<std::size_t>(operand->number)] = true;
    }
  }
  /// Returns true if the pass that ends with an instruction consists exactly of the instructions of
  /// its node.
  [[nodiscard]] bool is_whole_pass(value_id root) const noexcept {
    std::int32_t own = 0;
    for (value_id i = first_of_[static_cast<std::size_t>(root)]; i <= root; ++i) {
      if (is_constant(*program_.code[static_cast<std::size_t>(i)].what)) continue;
      if (program_.notes[static_cast<std::size_t>(i)].root != root) return false;
      ++own;
    }
    return own == members_[static_cast<std::size_t>(root)];
  }
  void count_members() {
    members_.resize(program_.notes.size(), 0);
    for (value_id i = 0; i < program_.count; ++i) {
      const value_id root = program_.notes[static_cast<std::size_t>(i)].root;
      if (root >= 0 && !is_constant(*program_.code[static_cast<std::size_t>(i)].what))
        ++members_[static_cast<std::size_t>(root)];
    }
  }
  /// Returns a node for a value without handles: a part of an expression that is not fused.
  [[nodiscard]] node_ptr unnamed_result(const step_desc& step) const {
    return std::make_shared<tensor_node>(
        home_, home_->place(step.result),
        *program_.kernels[static_cast<std::size_t>(step.root)].elements);
  }

  lowered_program& program_;
  std::int32_t capacity_;
  std::vector<tensor_node*> node_of_;
  std::vector<value_id> first_of_;
  std::vector<tensor_node*> owner_of_;
  std::vector<std::int32_t> members_;
  std::vector<long> readers_;
  std::vector<bool> read_later_;
  std::shared_ptr<pool_state> home_;
};

}  // namespace detail

/// Lowers everything pending that `roots` depend on. The caller holds the machine's turn.
[[nodiscard]] inline lowered_program lower(std::span<tensor_node* const> roots) {
  const detail::reached_nodes reached(roots);
  lowered_program program;
  detail::program_lowering lowering(program, reached);
  lowering.lower(reached, roots);
  lowering.plan();
  return program;
}

}  // namespace shardwise
