// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/gradient.hpp"
#include "shardwise/plan/recompute.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/runtime/argument_node.hpp"
#include "shardwise/runtime/splice.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// A program that grows with what is appended to it.
struct growing_program : stored_program {
  using stored_program::stored_program;

  void grow() {
    const std::size_t size = 2 * code.size() + 64;
    code.resize(size);
    values.resize(size);
    table.resize(size + 1);
  }
};

/// The part of a graph that is to be differentiated as a program: what depends on the arguments of
/// a function. All else is an input.
class recorded_graph {
 public:
  /// Says that nodes of the graph are read as they are, and not made anew.
  void share_nodes() noexcept { shares_nodes_ = true; }
  void argument(const node_ptr& stand_in, const node_ptr& real) {
    arguments_.push_back(stand_in);
    real_.push_back(real);
  }
  /// Refuses a result that may depend on arguments, which are tensors themselves, by way of what
  /// was computed since they were made, and does not say any more what it was made of.
  void require_uncomputed(const node_ptr& result) const {
    std::uint64_t first = ~std::uint64_t{0};
    for (const node_ptr& each : arguments_) first = std::min(first, each->birth());
    const auto size = static_cast<std::size_t>(code_.count);
    std::vector<bool> may_depend(size, false);
    for (std::size_t i = 0; i < size; ++i) {
      const instruction& at = code_.code[i];
      for (value_id o : at.operands)
        if (!at.what->stops_gradient && may_depend[static_cast<std::size_t>(o)])
          may_depend[i] = true;
      if (!is_input(*at.what)) continue;
      const node_ptr& read = nodes_[i];
      const bool is_argument =
          std::find(arguments_.begin(), arguments_.end(), read) != arguments_.end();
      may_depend[i] =
          !is_argument && read->ready() && read->task() != nullptr && read->birth() > first;
    }
    if (may_depend[static_cast<std::size_t>(id_of(result))])
      fail({.rule = broken::value_is_computed_already});
  }
  /// Appends the program of these results.
  void record(const std::vector<node_ptr>& results) {
    const std::vector<node*> pending = reach(results);
    std::map<const node*, bool> depends;
    for (const node_ptr& argument : arguments_) depends[argument.get()] = true;
    std::int32_t room = static_cast<std::int32_t>(arguments_.size() + results.size());
    for (node* at : pending) {
      bool& mine = depends[at];
      mine = shares_nodes_;
      for (const node_ptr& operand : at->task()->operands()) mine = mine || depends[operand.get()];
      room += mine ? at->task()->instructions() +
                         static_cast<std::int32_t>(at->task()->operands().size())
                   : 0;
    }
    code_.resize(room, static_cast<std::int32_t>(results.size()));
    kernels_.resize(static_cast<std::size_t>(room));
    program_builder code(code_);
    code.place(results.front()->home()->mesh());
    for (std::size_t k = 0; k < arguments_.size(); ++k) input(code, arguments_[k], real_[k]);
    for (node* at : pending)
      if (depends[at])
        for (const node_ptr& operand : at->task()->operands())
          if (!depends[operand.get()]) input(code, operand, operand);
    for (const node_ptr& result : results)
      if (!depends[result.get()]) input(code, result, result);
    described_program described(code, kernels_);
    for (node* at : pending) {
      if (!depends[at]) continue;
      std::vector<value_id> read;
      for (const node_ptr& operand : at->task()->operands()) read.push_back(id_of(operand));
      const value_id first = code.size();
      const value_id id = at->task()->describe(described, read);
      const auto again = at->task()->recomputed();
      for (value_id i = first; i < code.size(); ++i)
        code.recompute(i, again == computation::again::wholly ||
                              (again == computation::again::within && i != id));
      number_[at] = id;
      if (shares_nodes_) {
        nodes_.resize(static_cast<std::size_t>(id) + 1);
        nodes_[static_cast<std::size_t>(id)] = at->shared_from_this();
      }
      if (at->named()) code.name(id);
    }
    for (value_id i = 0; i < code_.count; ++i) enter_kernel(i);
  }

  [[nodiscard]] growing_program& code() noexcept { return code_; }
  [[nodiscard]] value_id id_of(const node_ptr& at) const { return number_.at(at.get()); }
  /// Makes the nodes of values of the program, with names.
  [[nodiscard]] std::vector<node_ptr> splice(const std::vector<value_id>& wanted,
                                             const std::shared_ptr<machine>& home) {
    program_splice(code_.view(), nodes_, kernels_).make(wanted, home);
    std::vector<node_ptr> made;
    for (value_id i : wanted) {
      made.push_back(nodes_[static_cast<std::size_t>(i)]);
      made.back()->name();
    }
    return made;
  }

 private:
  void input(program_builder& code, const node_ptr& stands, const node_ptr& real) {
    if (number_.count(stands.get()) != 0) return;
    const value_id id = code.append(operation_of<input_operation>, {}, {}, stands->tensor());
    number_[stands.get()] = id;
    nodes_.resize(static_cast<std::size_t>(id) + 1);
    nodes_[static_cast<std::size_t>(id)] = real;
  }
  /// The pending nodes below some, without arguments, in the order in which they were written.
  [[nodiscard]] std::vector<node*> reach(const std::vector<node_ptr>& results) const {
    std::map<const node*, bool> met;
    std::vector<node*> found;
    const auto meet = [&](const node_ptr& at) {
      if (at->ready() || met[at.get()]) return;
      met[at.get()] = true;
      for (const node_ptr& argument : arguments_)
        if (argument == at) return;
      found.push_back(at.get());
    };
    for (const node_ptr& result : results) meet(result);
    for (std::size_t k = 0; k < found.size(); ++k)
      for (const node_ptr& operand : found[k]->task()->operands()) meet(operand);
    std::sort(found.begin(), found.end(),
              [](node* a, node* b) { return a->task()->sequence() < b->task()->sequence(); });
    return found;
  }
  /// Makes the kernel of an instruction, and those of its gradient, known to programs.
  void enter_kernel(value_id i) {
    const program_view code = code_.view();
    const operation_kernel& kernel = kernels_[static_cast<std::size_t>(i)];
    if (kernel.elements == nullptr) return;
    inplace_vector<element, max_operands> types;
    for (value_id o : code.code[i].operands) types.push_back(code.values[o].type);
    kernel_table::instance().enter(
        code.what(i), types_key({types.begin(), types.size()}, code.values[i].type), kernel);
    if (kernel.enter_gradient != nullptr) kernel.enter_gradient();
  }

  growing_program code_;
  std::vector<operation_kernel> kernels_;
  std::vector<node_ptr> nodes_;
  std::vector<node_ptr> arguments_;
  std::vector<node_ptr> real_;
  std::map<const node*, value_id> number_;
  bool shares_nodes_ = false;
};

/// The gradients of a pending number with respect to tensors that it is made of.
[[nodiscard]] inline std::vector<node_ptr> gradients_of(const node_ptr& loss,
                                                        const std::vector<node_ptr>& tensors) {
  const std::shared_ptr<machine> home = loss->home();
  recorded_graph graph;
  graph.share_nodes();
  for (const node_ptr& each : tensors) graph.argument(each, each);
  {
    const std::lock_guard turn(home->turn());
    graph.record({loss});
    graph.require_uncomputed(loss);
  }
  std::vector<value_id> of;
  for (const node_ptr& each : tensors) of.push_back(graph.id_of(each));
  program_builder code(graph.code());
  differentiation gradients(code, 0, of);
  gradients.seed(graph.id_of(loss));
  gradients.run();
  std::vector<value_id> made;
  for (std::size_t k = 0; k < of.size(); ++k)
    made.push_back(gradients.cotangent_of(of[k], gradient_layout(tensors[k]->tensor().layout)));
  return graph.splice(made, home);
}

/// Records a function of tensors by calling it, and makes its gradient a part of the graph.
class graph_tape {
 public:
  template <class X>
  explicit graph_tape(const X&) noexcept {}

  /// What a result of the function is afterwards: expressions are tensors.
  template <class X>
  struct settled_as {
    using type = X;
  };
  template <Operand X>
  struct settled_as<X> {
    using type =
        sharded_tensor<typename X::value_type, typename X::extents_type, typename X::layout_type>;
  };
  template <class X>
  using settled = typename settled_as<X>::type;

  template <class X>
  [[nodiscard]] settled<X> argument(const X& x, bool wanted) {
    const node_ptr real = x.share();
    auto stand_in = std::make_shared<argument_node>(real);
    graph_.argument(stand_in, real);
    if (wanted) wanted_.push_back(stand_in);
    return settled<X>(node_ptr(std::move(stand_in)));
  }
  template <class X>
  void result(const X& x) {
    results_.push_back(x.share());
  }
  template <class LayoutOf>
  void differentiate(bool keeps_loss, const LayoutOf& layout_of) {
    std::vector<layout_desc> layouts;
    for (const node_ptr& each : wanted_) layouts.push_back(layout_of(each->tensor().layout));
    made_ = run(keeps_loss, layouts);
  }
  template <class Made, class X>
  [[nodiscard]] Made next(const X&) {
    return Made(std::move(made_[next_++]));
  }

 private:
  [[nodiscard]] std::vector<node_ptr> run(bool keeps_loss,
                                          const std::vector<layout_desc>& layouts) {
    const std::shared_ptr<machine> home = results_[0]->home();
    {
      const std::lock_guard turn(home->turn());
      graph_.record(results_);
    }
    std::vector<value_id> needed;
    std::vector<value_id> of;
    for (const node_ptr& each : wanted_) of.push_back(graph_.id_of(each));
    program_builder code(graph_.code());
    differentiation gradients(code, 0, of);
    gradients.seed(graph_.id_of(results_[0]));
    gradients.run();
    for (std::size_t k = 0; k < of.size(); ++k)
      needed.push_back(gradients.cotangent_of(of[k], layouts[k]));
    for (std::size_t r = keeps_loss ? 0 : 1; r < results_.size(); ++r)
      needed.push_back(graph_.id_of(results_[r]));
    return graph_.splice(needed, home);
  }

  recorded_graph graph_;
  std::vector<node_ptr> wanted_;
  std::vector<node_ptr> results_;
  std::vector<node_ptr> made_;
  std::size_t next_ = 0;
};
/// Marks the nodes that a function makes to be computed again.
class graph_recomputing {
 public:
  template <class X>
  explicit graph_recomputing(const X&) noexcept
      : before_(std::exchange(computation::recomputes(), true)) {}
  graph_recomputing(const graph_recomputing&) = delete;
  graph_recomputing& operator=(const graph_recomputing&) = delete;
  ~graph_recomputing() { computation::recomputes() = before_; }

  template <class X>
  [[nodiscard]] typename graph_tape::settled<X> result(const X& x) const {
    const node_ptr made = x.share();
    made->name();
    if (computation* const task = made->task(); task != nullptr && !before_)
      if (task->recomputed() == computation::again::wholly)
        task->recompute(computation::again::within);
    return typename graph_tape::settled<X>(made);
  }

 private:
  bool before_;
};
template <>
struct recomputing_of<lazy_domain> {
  using type = graph_recomputing;
};
template <>
struct recomputing_of<any_domain> {
  using type = graph_recomputing;
};

template <>
struct tape_of<lazy_domain> {
  using type = graph_tape;
};
template <>
struct tape_of<any_domain> {
  using type = graph_tape;
};

}  // namespace detail

/// The gradients of a number that is pending with respect to tensors that it is made of, one or
/// several in a tuple: for programs that write `backward()` elsewhere. What lies between is pending
/// too; the tensors themselves may be computed or not.
///
///     auto loss = sum(square(einsum<"bi,io->bo">(x, w) + b));
///     auto [dw, db] = gradient(loss, w, b);
template <class Loss, class... X>
  requires(EitherOperand<Loss> && sizeof...(X) > 0 && (... && EitherOperand<X>))
[[nodiscard]] auto gradient(const Loss& loss, const X&... x) {
  const std::vector<node_ptr> made = detail::gradients_of(loss.share(), {x.share()...});
  std::size_t next = 0;
  const auto take = [&]<class Each>(const Each&) { return gradient_of<Each>(made[next++]); };
  if constexpr (sizeof...(X) == 1)
    return take(x...);
  else
    return std::tuple{take(x)...};
}

}  // namespace shardwise
