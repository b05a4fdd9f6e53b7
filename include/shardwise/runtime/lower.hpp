// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/computation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace shardwise {

/// A run-time graph as the same program value that `trace_program` records on paper, planned alike,
/// and the nodes behind its steps.
struct lowered_program {
  mesh_desc mesh{};
  std::vector<instruction> code;
  std::vector<tensor_desc> values;
  std::vector<attributes> table;
  std::int32_t count = 0;

  std::vector<step_desc> steps;
  std::vector<lifetime> lives;
  /// One for each step. Each is held until it has been computed, so that a failure finds all that
  /// are left; then its readers decide how long it lives. Null for inputs.
  std::vector<std::shared_ptr<node_base>> nodes;

  [[nodiscard]] program_view view() const noexcept {
    return {&mesh, code.data(), values.data(), table.data(), count};
  }
};

namespace detail {

/// Nodes that were given a number, which they lose when this goes, whatever was thrown meanwhile.
class numbered_nodes {
 public:
  numbered_nodes() = default;
  numbered_nodes(const numbered_nodes&) = delete;
  numbered_nodes& operator=(const numbered_nodes&) = delete;
  ~numbered_nodes() {
    for (node_base* at : nodes_) at->number = -1;
  }

  void add(node_base& found) {
    nodes_.push_back(&found);
    found.number = 0;
  }
  /// Puts pending nodes in the order in which they were written.
  void sort() noexcept {
    std::sort(nodes_.begin(), nodes_.end(), [](node_base* a, node_base* b) {
      return a->task()->sequence() < b->task()->sequence();
    });
  }
  [[nodiscard]] const std::vector<node_base*>& in_order() const noexcept { return nodes_; }

 private:
  std::vector<node_base*> nodes_;
};

/// The nodes of the graph below some roots: those that are pending in the order in which they were
/// written, and those that are there in the order in which the others read them.
struct reached_nodes {
  numbered_nodes pending;
  numbered_nodes ready;

  explicit reached_nodes(std::span<node_base* const> roots) {
    std::vector<node_base*> open;
    const auto meet = [&](node_base* found) {
      if (found->ready() || found->number >= 0) return;
      pending.add(*found);
      open.push_back(found);
    };
    for (node_base* root : roots) meet(root);
    while (!open.empty()) {
      computation* task = open.back()->task();
      open.pop_back();
      for (const std::shared_ptr<node_base>& operand : task->operands()) meet(operand.get());
    }
    pending.sort();
    const auto enter = [&](node_base* found) {
      if (found->ready() && found->number < 0) ready.add(*found);
    };
    for (node_base* at : pending.in_order())
      for (const std::shared_ptr<node_base>& operand : at->task()->operands()) enter(operand.get());
    for (node_base* root : roots) enter(root);
  }
};

/// Lowers the nodes of a graph to the instructions of a program.
class program_lowering {
 public:
  program_lowering(lowered_program& program, const reached_nodes& reached)
      : program_(program), capacity_(static_cast<std::int32_t>(reached.ready.in_order().size())) {
    for (node_base* at : reached.pending.in_order()) capacity_ += at->task()->instructions();
    const auto size = static_cast<std::size_t>(capacity_);
    program.code.resize(size);
    program.values.resize(size);
    program.table.resize(size + 1);
    node_of_.resize(size, nullptr);
    readers_.resize(size, 0);
  }

  void lower(const reached_nodes& reached, std::span<node_base* const> roots) {
    std::int32_t attribute_count = 1;
    program_builder code(program_.mesh, program_.code.data(), program_.values.data(),
                         program_.table.data(), program_.count, attribute_count, capacity_);
    code.place(roots.front()->home()->mesh());
    for (node_base* at : reached.ready.in_order())
      number(code, at, code.append(operation_of<input_operation>, {}, {}, at->tensor()));
    for (node_base* at : reached.pending.in_order()) {
      inplace_vector<value_id, max_fused_operands> read;
      for (const std::shared_ptr<node_base>& operand : at->task()->operands()) {
        read.push_back(operand->number);
        ++readers_[static_cast<std::size_t>(operand->number)];
      }
      number(code, at, at->task()->describe(code, {read.begin(), read.size()}));
    }
    for (node_base* root : roots) code.keep(root->number);
  }

  /// Forms the steps, and decides what lives how long. What handles outside of the graph hold is
  /// kept after the run; that decides memory alone.
  void plan() {
    const auto size = static_cast<std::size_t>(program_.count);
    std::vector<cluster_note> notes(size);
    std::vector<std::int32_t> step_of(size);
    program_.steps.resize(size);
    program_.steps.resize(static_cast<std::size_t>(
        form_steps(program_.view(), notes.data(), step_of.data(), program_.steps.data())));
    for (step_desc& step : program_.steps) {
      const auto root = static_cast<std::size_t>(step.root);
      if (step.kind == step_kind::input) {
        program_.nodes.emplace_back();
        step.kept = true;
      } else {
        program_.nodes.push_back(node_of_[root]->shared_from_this());
        step.kept = step.kept || program_.nodes.back().use_count() > 1 + readers_[root];
      }
    }
    program_.lives.resize(program_.steps.size());
    plan_lifetimes(program_.steps.data(), static_cast<std::int32_t>(program_.steps.size()),
                   program_.lives.data());
  }

 private:
  void number(program_builder& code, node_base* at, value_id id) {
    at->number = id;
    node_of_[static_cast<std::size_t>(id)] = at;
    code.name(id);
  }

  lowered_program& program_;
  std::int32_t capacity_;
  std::vector<node_base*> node_of_;
  std::vector<long> readers_;
};

}  // namespace detail

/// Lowers everything pending that `roots` need. The caller holds the machine's turn.
[[nodiscard]] inline lowered_program lower(std::span<node_base* const> roots) {
  const detail::reached_nodes reached(roots);
  lowered_program program;
  detail::program_lowering lowering(program, reached);
  lowering.lower(reached, roots);
  lowering.plan();
  return program;
}

}  // namespace shardwise
