// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/find_kernel.hpp"
#include "shardwise/engine/make_nodes.hpp"
#include "shardwise/engine/new_nodes.hpp"
#include "shardwise/engine/stored_program.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace shardwise::internal {

/// Creates pending nodes from the instructions of a program, one for each, so that they become part
/// of the graph and are fused, scheduled and run with it.
class program_splice {
 public:
  /// `nodes` has the existing nodes, by the values of the program, and null for others; `works`
  /// has what computes the instructions as far as it is known.
  program_splice(const program_view& code, growable<node_ptr>& nodes,
                 growable<instruction_work>& works)
      : code_(code), nodes_(nodes), works_(works) {
    nodes_.resize(static_cast<std::size_t>(code.count));
    works_.resize(static_cast<std::size_t>(code.count));
  }

  /// Creates the nodes of these values and of everything that they depend on.
  void make(const growable<value_id>& wanted, const std::shared_ptr<pool_state>& home) {
    growable<bool> needed(nodes_.size(), false);
    for (value_id i : wanted) needed[static_cast<std::size_t>(i)] = true;
    for (value_id i = code_.count - 1; i >= 0; --i)
      if (needed[static_cast<std::size_t>(i)] && at(i) == nullptr)
        for (value_id o : code_.code[i].operands) needed[static_cast<std::size_t>(o)] = true;
    for (value_id i = 0; i < code_.count; ++i) {
      if (!needed[static_cast<std::size_t>(i)] || is_constant(code_.what(i))) continue;
      if (at(i) == nullptr) at(i) = make_node(i, home);
      if (code_.code[i].named) at(i)->name();
    }
  }

 private:
  [[nodiscard]] node_ptr& at(value_id i) { return nodes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] instruction_work& work_at(value_id i) {
    return works_[static_cast<std::size_t>(i)];
  }

  [[nodiscard]] node_ptr make_node(value_id i, const std::shared_ptr<pool_state>& home) {
    const operation& what = code_.what(i);
    const attributes& how = code_.how(i);
    const tensor_desc& result = code_.values[i];
    if (is_result(what)) {
      const value_id first = code_.code[i].operands[0];
      const int which = result_operation::number(how);
      return result_node_of(at(first), which, *work_at(first).kernel.further[which - 1]);
    }
    if (is_collective(what))
      return collective_node_of(at(code_.code[i].operands[0]), {&what, how}, result);

    find_kernel(code_, works_, i);
    find_split(code_, works_, i);
    const instruction_work& work = work_at(i);
    growable<node_ptr> read;
    number_operands numbers;
    int place = 0;
    for (value_id o : code_.code[i].operands) {
      if (!is_constant(code_.what(o))) {
        read.push_back(at(o));
      } else if (what.is_elementwise) {
        number_operand number = number_operand_of(code_.how(o), code_.values[o].type);
        number.place = place;
        numbers.push_back(number);
      } else {
        // Operations that are not elementwise read tensors.
        const std::shared_ptr<pending_node> fill =
            filled_node(home, home->place(code_.values[o]), code_.how(o));
        fill->wait_for({});
        read.push_back(fill);
      }
      ++place;
    }
    const auto made = new_node(home, read, result, *work.kernel.elements, what);
    made->work().kernel = work.kernel;
    made->work().numbers = numbers;
    if (work.details != nullptr) made->work().split_as(work.details);
    made->wait_for(read);
    return made;
  }

  program_view code_;
  growable<node_ptr>& nodes_;
  growable<instruction_work>& works_;
};

}  // namespace shardwise::internal
