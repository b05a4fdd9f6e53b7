// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/pending_node.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace shardwise::internal {

/// Returns those of these pending nodes that depend on operands of which `is_argument(operand)` is
/// true. Operands must precede the nodes that read them.
template <class Judge>
[[nodiscard]] std::unordered_set<const tensor_node*> dependent_nodes(
    const growable<node_ptr>& pending, const Judge& is_argument) {
  std::unordered_set<const tensor_node*> found;
  for (const node_ptr& at : pending)
    for (const node_ptr& operand : at->task()->operands())
      if (is_argument(operand.get()) || found.contains(operand.get())) found.insert(at.get());
  return found;
}

/// Returns, in their order, the pending nodes that handles hold, that is, those with other owners
/// than the operands of these nodes. The caller holds the machine's turn.
[[nodiscard]] inline growable<node_ptr> named(const growable<node_ptr>& pending) {
  growable<long> owners(pending.size(), 1);  // the reference of this vector
  for (std::size_t i = 0; i < pending.size(); ++i)
    pending[i]->number = static_cast<std::int32_t>(i);
  for (const node_ptr& at : pending)
    for (const node_ptr& operand : at->task()->operands())
      if (operand->number >= 0) ++owners[static_cast<std::size_t>(operand->number)];
  for (const node_ptr& at : pending) at->number = -1;
  growable<node_ptr> names;
  for (std::size_t i = 0; i < pending.size(); ++i)
    if (pending[i].use_count() > owners[i]) names.push_back(pending[i]);
  return names;
}

/// Returns those of these nodes that handles hold and that will have values: what depends on an
/// argument of a function that another thread is recording never has one. The caller holds the
/// machine's turn.
[[nodiscard]] inline growable<node_ptr> computable_names(const growable<node_ptr>& pending) {
  growable<node_ptr> names = named(pending);
  const auto skipped = dependent_nodes(pending, [](tensor_node* operand) {
    return operand->task() != nullptr && operand->task()->is_argument();
  });
  const auto is_skipped = [&](const node_ptr& name) { return skipped.contains(name.get()); };
  names.erase(std::remove_if(names.begin(), names.end(), is_skipped), names.end());
  return names;
}

}  // namespace shardwise::internal
