// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/custom_gradients.hpp"
#include "shardwise/engine/pending_node.hpp"
#include "shardwise/engine/splice.hpp"
#include "shardwise/plan/program_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace shardwise::internal {

/// A program that grows when instructions are appended.
struct growing_program : stored_program {
  using stored_program::stored_program;

  void grow() {
    const std::size_t size = 2 * code.size() + 64;
    code.resize(size);
    values.resize(size);
    table.resize(size + 1);
  }
};

/// The part of a graph that is to be differentiated, as a program: the values that depend on the
/// arguments of a function. All others are inputs.
class recorded_graph {
 public:
  /// Makes gradients read existing nodes of the graph instead of creating them again.
  void share_nodes() noexcept { shares_nodes_ = true; }
  void argument(const node_ptr& stand_in, const node_ptr& real) {
    arguments_.push_back(stand_in);
    real_.push_back(real);
  }
  /// Sets the recorded custom gradients, in order.
  void differentiate_by(custom_gradients met) { custom_ = std::move(met); }
  /// Fails if `result` may depend on an argument through a value that was computed after the
  /// arguments were created: such a value no longer records its operands.
  void require_uncomputed(const node_ptr& result) const {
    std::uint64_t first = ~std::uint64_t{0};
    for (const node_ptr& each : arguments_) first = std::min(first, each->birth());
    const auto size = static_cast<std::size_t>(code_.count);
    growable<bool> may_depend(size, false);
    for (std::size_t i = 0; i < size; ++i) {
      const instruction& at = code_.code[i];
      for (value_id o : at.operands)
        if (!at.what->stops_gradient && may_depend[static_cast<std::size_t>(o)])
          may_depend[i] = true;
      if (!is_input(*at.what)) continue;
      const node_ptr& read = nodes_[i];
      const bool is_argument =
          std::find(arguments_.begin(), arguments_.end(), read) != arguments_.end();
      const bool is_computed =
          read->ready() && (read->task() != nullptr || read->is_made_by_step());
      may_depend[i] = !is_argument && is_computed && read->birth() > first;
    }
    if (may_depend[static_cast<std::size_t>(id_of(result))])
      fail({.rule = violation::value_is_computed_already});
  }
  /// Appends the program of these results.
  void record(const growable<node_ptr>& results) {
    const growable<tensor_node*> pending = reach(results);
    std::map<const tensor_node*, bool> depends;
    for (const node_ptr& argument : arguments_) depends[argument.get()] = true;
    for (const custom_gradient_of_nodes& each : custom_)
      for (const node_ptr& cotangent : each.cotangents) depends[cotangent.get()] = true;
    std::int32_t room = static_cast<std::int32_t>(arguments_.size() + results.size());
    for (tensor_node* at : pending) {
      bool& mine = depends[at];
      mine = shares_nodes_;
      for (const node_ptr& operand : at->task()->operands()) mine = mine || depends[operand.get()];
      room += mine ? at->task()->instructions() +
                         static_cast<std::int32_t>(at->task()->operands().size())
                   : 0;
      if (mine && shares_nodes_ && at->task()->has_custom_gradient())
        fail({.rule = violation::operation_has_no_gradient},
             operation_of<custom_gradient_operation>.name);
    }
    for (const custom_gradient_of_nodes& each : custom_)
      room += static_cast<std::int32_t>(each.results.size() + each.cotangents.size() +
                                        3 * each.arguments.size() + 1);
    code_.resize(room, static_cast<std::int32_t>(results.size()));
    works_.resize(static_cast<std::size_t>(room));
    program_builder code(code_);
    code.place(results.front()->home()->mesh());
    for (std::size_t k = 0; k < arguments_.size(); ++k) input(code, arguments_[k], real_[k]);
    for (tensor_node* at : pending)
      if (depends[at])
        for (const node_ptr& operand : at->task()->operands())
          if (!depends[operand.get()]) input(code, operand, operand);
    for (const node_ptr& result : results)
      if (!depends[result.get()]) input(code, result, result);
    for (const custom_gradient_of_nodes& each : custom_) {
      for (const node_ptr& cotangent : each.cotangents)
        input(code, cotangent, cotangent, operation_of<cotangent_operation>);
      for (const node_ptr& given : each.gradients)
        if (!depends[given.get()]) input(code, given, given);
    }
    described_program described(code, works_);
    auto custom = custom_.begin();
    for (tensor_node* at : pending) {
      for (; custom != custom_.end() && custom->sequence < at->task()->sequence(); ++custom)
        append(code, *custom);
      if (!depends[at]) continue;
      growable<value_id> read;
      for (const node_ptr& operand : at->task()->operands()) read.push_back(id_of(operand));
      const value_id first = code.size();
      const value_id id = at->task()->describe(described, read);
      const auto again = at->task()->recomputed();
      for (value_id i = first; i < code.size(); ++i)
        code.recompute(i, again == pending_node::again::wholly ||
                              (again == pending_node::again::within && i != id));
      number_[at] = id;
      if (shares_nodes_) {
        nodes_.resize(static_cast<std::size_t>(id) + 1);
        nodes_[static_cast<std::size_t>(id)] = at->shared_from_this();
      }
      if (at->named()) code.name(id);
    }
    for (; custom != custom_.end(); ++custom) append(code, *custom);
    custom_.clear();
    for (value_id i = 0; i < code_.count; ++i) enter_kernel(i);
  }

  [[nodiscard]] growing_program& code() noexcept { return code_; }
  /// Releases the recorded nodes, so that they live no longer than their handles.
  void let_go() {
    for (auto at = number_.begin(); at != number_.end();)
      if (is_input(*code_.code[static_cast<std::size_t>(at->second)].what))
        ++at;
      else
        at = number_.erase(at);
  }
  /// Adds a tensor that only the gradient reads.
  [[nodiscard]] value_id add_input(const node_ptr& read) {
    program_builder code(code_);
    input(code, read, read);
    return id_of(read);
  }
  /// Returns the end of the program, to which `cut` brings it back.
  [[nodiscard]] program_builder::position end() { return program_builder(code_).end(); }
  /// Removes what was appended after a position, and releases its nodes. Nodes that were created
  /// for values before it stay.
  void cut(const program_builder::position& from) noexcept {
    const auto size = static_cast<std::size_t>(from.code);
    // A new node may get the address of one that is released.
    for (auto at = number_.begin(); at != number_.end();)
      at = at->second >= from.code ? number_.erase(at) : std::next(at);
    if (nodes_.size() > size) nodes_.resize(size);
    if (works_.size() > size) works_.resize(size);
    code_.count = from.code;
    code_.attribute_count = from.attribute_count;
  }
  [[nodiscard]] value_id id_of(const node_ptr& at) const { return number_.at(at.get()); }
  /// Returns the tensor of an input of the program.
  [[nodiscard]] const node_ptr& node_of(value_id input) const noexcept {
    return nodes_[static_cast<std::size_t>(input)];
  }
  /// Sets the node of a value of the program.
  void set_node(value_id i, node_ptr stands) {
    nodes_.resize(static_cast<std::size_t>(code_.count));
    nodes_[static_cast<std::size_t>(i)] = std::move(stands);
  }
  /// Creates named nodes for values of the program.
  [[nodiscard]] growable<node_ptr> splice(const growable<value_id>& wanted,
                                          const std::shared_ptr<pool_state>& home) {
    program_splice(code_.view(), nodes_, works_).make(wanted, home);
    growable<node_ptr> made;
    for (value_id i : wanted) {
      made.push_back(nodes_[static_cast<std::size_t>(i)]);
      made.back()->name();
    }
    mark_recomputed();
    return made;
  }

 private:
  /// Marks the nodes created from instructions that gradients compute again.
  void mark_recomputed() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (code_.code[i].recomputed && nodes_[i] != nullptr && nodes_[i]->task() != nullptr)
        nodes_[i]->task()->recompute(pending_node::again::wholly);
  }
  /// Appends the part of a custom gradient that the program contains, after its recording. Results
  /// that the program does not read are inputs, whose cotangents are 0.
  void append(program_builder& code, const custom_gradient_of_nodes& of) {
    const auto has = [&](const node_ptr& at) { return number_.count(at.get()) != 0; };
    if (std::none_of(of.results.begin(), of.results.end(), has)) return;
    growable<value_id> results, cotangents, arguments, gradients;
    for (std::size_t k = 0; k < of.results.size(); ++k) {
      input(code, of.results[k], of.results[k]);
      results.push_back(id_of(of.results[k]));
      cotangents.push_back(id_of(of.cotangents[k]));
    }
    for (std::size_t k = 0; k < of.arguments.size(); ++k) {
      if (!has(of.arguments[k]) || !has(of.gradients[k])) continue;
      arguments.push_back(id_of(of.arguments[k]));
      gradients.push_back(id_of(of.gradients[k]));
    }
    code.differentiate_by(results, cotangents, arguments, gradients);
  }
  void input(program_builder& code, const node_ptr& stands, const node_ptr& real,
             const operation& what = operation_of<input_operation>) {
    if (number_.count(stands.get()) != 0) return;
    const value_id id = code.append(what, {}, {}, stands->tensor());
    number_[stands.get()] = id;
    nodes_.resize(static_cast<std::size_t>(id) + 1);
    nodes_[static_cast<std::size_t>(id)] = real;
  }
  /// Returns the pending nodes reachable from some nodes, without arguments, in the order in which
  /// they were created.
  [[nodiscard]] growable<tensor_node*> reach(const growable<node_ptr>& results) const {
    std::map<const tensor_node*, bool> met;
    growable<tensor_node*> found;
    for (const custom_gradient_of_nodes& each : custom_)
      for (const node_ptr& cotangent : each.cotangents) met[cotangent.get()] = true;
    std::set<const tensor_node*> arguments;
    for (const node_ptr& argument : arguments_) arguments.insert(argument.get());
    const auto meet = [&](const node_ptr& at) {
      at->arrive();
      if (at->ready() || std::exchange(met[at.get()], true)) return;
      if (arguments.count(at.get()) == 0) found.push_back(at.get());
    };
    for (const node_ptr& result : results) meet(result);
    // Readers of a result have been visited before it, so the last custom gradients come first.
    std::size_t next = 0;
    for (auto custom = std::make_reverse_iterator(custom_.end());; ++custom) {
      for (; next < found.size(); ++next)
        for (const node_ptr& operand : found[next]->task()->operands()) meet(operand);
      if (custom == std::make_reverse_iterator(custom_.begin())) break;
      for (const node_ptr& result : custom->results)
        if (met.count(result.get()) != 0)
          for (const node_ptr& given : custom->gradients) meet(given);
    }
    std::sort(found.begin(), found.end(), [](tensor_node* a, tensor_node* b) {
      return a->task()->sequence() < b->task()->sequence();
    });
    return found;
  }
  /// Registers the kernel of an instruction, and those of its gradient.
  void enter_kernel(value_id i) {
    const program_view code = code_.view();
    const operation_kernel& kernel = works_[static_cast<std::size_t>(i)].kernel;
    if (kernel.elements == nullptr) return;
    inplace_vector<element, max_operands> types;
    for (value_id o : code.code[i].operands) types.push_back(code.values[o].type);
    kernel_table::instance().enter(kernel_operation(code.what(i), code.how(i)),
                                   types_key({types.begin(), types.size()}, code.values[i].type),
                                   kernel);
    if (kernel.enter_gradient != nullptr) kernel.enter_gradient();
  }

  growing_program code_;
  growable<instruction_work> works_;
  growable<node_ptr> nodes_;
  growable<node_ptr> arguments_;
  growable<node_ptr> real_;
  std::map<const tensor_node*, value_id> number_;
  custom_gradients custom_;
  bool shares_nodes_ = false;
};

}  // namespace shardwise::internal
