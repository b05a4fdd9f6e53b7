// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/any_operations.hpp"

#include <cstddef>
#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE propagation apply_rule(const mesh_desc& mesh, const factor_rule& rule,
                                        const tensor_descs& operands) {
  propagation out = propagate(mesh, rule, operands);
  if (!out.verdict.ok()) fail(out.verdict, advice(mesh, rule, operands, out.verdict));
  return out;
}

SHARDWISE_INLINE void fetch_operands(std::span<node_ptr> read, const factor_rule& rule,
                                     const tensor_descs& known, unsigned permitted) {
  const tensor_descs wanted = fetched(read[0]->where().mesh(), rule, known, permitted);
  for (std::size_t k = 0; k < read.size(); ++k)
    read[k] = reshard_node_of(std::move(read[k]), wanted[static_cast<int>(k)].layout);
}

}  // namespace shardwise::detail
