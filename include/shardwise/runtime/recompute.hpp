// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/recompute.hpp"
#include "shardwise/runtime/gradient.hpp"

#include <utility>

namespace shardwise::detail {

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

}  // namespace shardwise::detail
