// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/plan/explain.hpp"
#include "shardwise/plan/trace.hpp"
#include "shardwise/runtime/sync.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace shardwise {

namespace detail {
/// `explain` of nodes.
[[nodiscard]] std::string explain_nodes(const internal::growable<node_ptr>& named);
/// Writes a program with its plan, as `explain` shows it.
[[nodiscard]] std::string explain_steps(const mesh_desc& mesh, const step_desc* steps,
                                        const value_lifetime* lives, std::int32_t count,
                                        const cost_ledger& total);
}  // namespace detail

/// Returns the plan for computing tensors together, or only their names if they are computed
/// already: the fused passes, products and collectives in order, the bytes that each device
/// receives, and the ledger. The tensors must be in one pool.
///
///     std::cout << explain(loss, weights);
template <Readable First, Readable... Rest>
[[nodiscard]] std::string explain(const First& first, const Rest&... rest) {
  return detail::explain_nodes({first.share(), rest.share()...});
}

/// Arguments that are not in a pool, such as abstract tensors, are an error.
template <class X>
  requires(!Readable<X>)
typename internal::reading<"explain", X>::type explain(const X&) {
  return internal::reading<"explain", X>::value();
}

/// Returns the plan of a program on paper, as recorded by `trace_program`.
template <std::size_t Capacity>
[[nodiscard]] std::string explain(const traced_program<Capacity>& traced) {
  const planned_program<Capacity> planned = plan_program(traced);
  return detail::explain_steps(planned.mesh, planned.steps, planned.lives, planned.count,
                               planned.total);
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/explain_work.hpp"
#else
namespace shardwise {
SHARDWISE_EXTERN template void write_program(std::ostream& out, const mesh_desc& mesh,
                                             const step_desc* steps, const value_lifetime* lives,
                                             std::int32_t count, const cost_ledger& total);
}  // namespace shardwise
#endif
