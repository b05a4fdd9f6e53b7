// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/lazy_domain.hpp"
#include "shardwise/runtime/use_mesh.hpp"
#include "shardwise/tensor/any_tensor.hpp"
#include "shardwise/tensor/shown_as.hpp"

#include <array>
#include <memory>
#include <tuple>
#include <utility>

namespace shardwise {

/// Computes tensors and everything that they depend on, together, and returns when they are
/// complete. They must be in one pool.
///
///     sync(loss, weights);
template <Readable First, Readable... Rest>
void sync(const First& first, const Rest&... rest) {
  // An unnamed expression is held here; a handle holds its node itself.
  const std::tuple<decltype(first.share()), decltype(rest.share())...> named(first.share(),
                                                                             rest.share()...);
  const auto roots = std::apply(
      [](const auto&... nodes) {
        return std::array<tensor_node*, sizeof...(nodes)>{nodes.get()...};
      },
      named);
  for (tensor_node* root : roots)
    if (root->home() != roots[0]->home()) fail({.rule = violation::operand_pools_differ});
  run_program(roots);
}

/// Arguments that are not in a pool, such as numbers or abstract tensors, are an error.
template <class... X>
  requires(!(Readable<X> && ...))
void sync(const X&...) { ((void)sizeof(typename internal::reading<"sync", X>::type), ...); }

}  // namespace shardwise
