// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/explain.hpp"
#include "shardwise/plan/trace.hpp"
#include "shardwise/runtime/sync.hpp"

#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace shardwise {

/// What computing tensors together will do, or nothing but their names if they are there already:
/// the fused passes, products and collectives in order, the bytes that each device receives, and
/// the ledger. They live in one pool.
///
///     std::cout << explain(loss, weights);
template <Readable First, Readable... Rest>
[[nodiscard]] std::string explain(const First& first, const Rest&... rest) {
  const std::vector<node_ptr> named{first.share(), rest.share()...};
  const std::shared_ptr<machine>& home = named.front()->home();
  std::vector<node*> roots;
  for (const auto& root : named) {
    if (root->home() != home) fail({.rule = broken::operand_pools_differ});
    roots.push_back(root.get());
  }
  const std::lock_guard turn(home->turn());
  const lowered_program program = lower(roots);
  const auto count = static_cast<std::int32_t>(program.steps.size());
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // or else a stream that gets no memory leaves words out
  write_program(out, home->mesh(), program.steps.data(), program.lives.data(), count,
                summarize(home->mesh(), program.steps.data(), program.lives.data(), count));
  return out.str();
}

/// What is in no pool, such as a tensor on paper, is not computed.
template <class X>
  requires(!Readable<X>)
typename detail::reading<"explain", X>::type explain(const X&) {
  return detail::reading<"explain", X>::value();
}

/// The same of a program on paper, as `trace_program` records it.
template <std::size_t Capacity>
[[nodiscard]] std::string explain(const program<Capacity>& traced) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);
  write_program(out, traced);
  return out.str();
}

}  // namespace shardwise
