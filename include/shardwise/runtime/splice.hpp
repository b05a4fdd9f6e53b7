// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/kernel_table.hpp"
#include "shardwise/runtime/each_node.hpp"
#include "shardwise/runtime/fill_node.hpp"
#include "shardwise/runtime/make_nodes.hpp"
#include "shardwise/runtime/stored_program.hpp"
#include "shardwise/runtime/whole_node.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// Creates pending nodes from the instructions of a program, one for each, so that they become part
/// of the graph and are fused, scheduled and run with it.
class program_splice {
 public:
  /// `nodes` has the existing nodes, by the values of the program, and null for others; `kernels`
  /// has the kernels of instructions as far as they are known.
  program_splice(const program_view& code, std::vector<node_ptr>& nodes,
                 std::vector<operation_kernel>& kernels)
      : code_(code), nodes_(nodes), kernels_(kernels) {
    nodes_.resize(static_cast<std::size_t>(code.count));
    kernels_.resize(static_cast<std::size_t>(code.count));
  }

  /// Creates the nodes of these values and of everything that they depend on.
  void make(const std::vector<value_id>& wanted, const std::shared_ptr<pool_state>& home) {
    std::vector<bool> needed(nodes_.size(), false);
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
  [[nodiscard]] operation_kernel& kernel_at(value_id i) {
    return kernels_[static_cast<std::size_t>(i)];
  }

  [[nodiscard]] node_ptr make_node(value_id i, const std::shared_ptr<pool_state>& home) {
    const operation& what = code_.what(i);
    const attributes& how = code_.how(i);
    const tensor_desc& result = code_.values[i];
    if (is_result(what)) {
      const value_id first = code_.code[i].operands[0];
      const int which = result_operation::number(how);
      return result_node_of(at(first), which, *kernel_at(first).further[which - 1]);
    }
    if (is_collective(what))
      return collective_node_of(at(code_.code[i].operands[0]), {&what, how}, result);

    std::vector<node_ptr> read;
    number_operands numbers;
    inplace_vector<element, max_operands> types;
    for (int k = 0; k < code_.code[i].operands.ssize(); ++k) {
      const value_id o = code_.code[i].operands[k];
      types.push_back(code_.values[o].type);
      if (is_constant(code_.what(o)))
        numbers.push_back(number_of(o, k));
      else
        read.push_back(at(o));
    }
    operation_kernel& kernel = kernel_at(i);
    if (kernel.elements == nullptr)
      kernel = kernel_table::instance().find(kernel_operation(what, how),
                                             types_key({types.begin(), types.size()}, result.type));
    if (what.is_elementwise) {
      if (read.empty())
        return make_fill(code_.how(code_.code[i].operands[0]), result, kernel, home);
      return make_pending<each_node>(read, result, *kernel.elements, what, kernel.each, numbers,
                                     kernel.enter_gradient);
    }
    // Operations that are not elementwise read tensors.
    for (const number_operand& number : numbers)
      read.insert(read.begin() + number.place,
                  number_tensor(code_.code[i].operands[number.place], home));
    const tensor_descs operands = code_.operands(i);
    const factor_rule rule = what.rule(how, operands);
    propagation split = propagate(*code_.mesh, rule, operands);
    split.result = result;
    operation_cost cost;
    if (what.cost != nullptr) cost = what.cost(*code_.mesh, how, operands, result);
    return make_pending<whole_node>(read, result, *kernel.elements, applied_operation{&what, how},
                                    kernel.whole, rule, split, cost, kernel.further,
                                    kernel.enter_gradient);
  }

  [[nodiscard]] number_operand number_of(value_id i, int place) const {
    number_operand out{place, code_.values[i].type};
    with_number(code_.how(i), out.type,
                [&](auto value) { std::memcpy(&out.bits, &value, sizeof value); });
    return out;
  }
  [[nodiscard]] node_ptr make_fill(const attributes& number, const tensor_desc& result,
                                   const operation_kernel& identity,
                                   const std::shared_ptr<pool_state>& home) const {
    auto made = std::make_shared<fill_node>(home, home->place(result), *identity.elements, number,
                                            identity);
    made->wait_for({}, *made);
    return made;
  }
  [[nodiscard]] node_ptr number_tensor(value_id i, const std::shared_ptr<pool_state>& home) const {
    const element type = code_.values[i].type;
    const operation_kernel identity = kernel_table::instance().find(
        operation_of<pointwise<functions::identity>>, types_key({&type, 1}, type));
    return make_fill(code_.how(i), code_.values[i], identity, home);
  }

  program_view code_;
  std::vector<node_ptr>& nodes_;
  std::vector<operation_kernel>& kernels_;
};

}  // namespace shardwise::detail
