// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/recompute.hpp"
#include "shardwise/runtime/gradient.hpp"

namespace shardwise::detail {

/// Marks the nodes that a function creates to be computed again by gradients.
class graph_recomputing {
 public:
  graph_recomputing() noexcept;
  template <class X>
  explicit graph_recomputing(const X&) noexcept : graph_recomputing() {}
  graph_recomputing(const graph_recomputing&) = delete;
  graph_recomputing& operator=(const graph_recomputing&) = delete;
  ~graph_recomputing();

  template <class X>
  [[nodiscard]] typename graph_tape::settled<X> result(const X& x) const {
    const node_ptr made = x.share();
    made->name();
    keep(*made);
    return handle_of<typename graph_tape::settled<X>>(made);
  }

 private:
  /// Keeps the value of a node, whose operands are computed again.
  void keep(tensor_node& made) const noexcept;

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

}  // namespace shardwise::detail

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/recompute_work.hpp"
#endif
