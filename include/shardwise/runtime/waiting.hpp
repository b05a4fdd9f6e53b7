// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/value_nodes.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <type_traits>

namespace shardwise::detail {

/// The tensor type of the result of an operation, given its abstract tensor.
template <class Paper>
using tensor_from = sharded_tensor<typename Paper::value_type, typename Paper::extents_type,
                                   typename Paper::layout_type>;

template <class Function>
inline constexpr bool is_on_elements = requires {
  Function::on_elements;
};
/// True for functions that are compiled together with their operands as one pass: operands and
/// result have one type, for which there are packets or plain arithmetic.
template <class Function, class Paper, class... X>
inline constexpr bool is_compiled =
    std::is_same_v<compute_type<typename Paper::value_type>, typename Paper::value_type> &&
    !std::is_same_v<typename Paper::value_type, bool> && !is_on_elements<Function> &&
    (... && std::is_same_v<typename internal::element_type_of<typename Paper::value_type, X>::type,
                           typename Paper::value_type>);

/// How an operation whose attributes are types is deferred.
template <class Operation, class Paper, class... X>
struct waiting {
  using type = tensor_from<Paper>;

  [[nodiscard]] static type make(const propagation& split, X... operands) {
    return handle_of<type>(
        whole_node_of<Operation, X...>(split, element_kernels_of<typename Paper::value_type>,
                                       {read_operand<X>(static_cast<X>(operands))...}));
  }
};
template <class Function, class Paper, class... X>
struct waiting<pointwise<Function>, Paper, X...> {
  using type = tensor_from<Paper>;

  [[nodiscard]] static type make(const extents_desc& extents, X... operands) {
    return handle_of<type>(each_node_of<Function, Paper>(extents, static_cast<X>(operands)...));
  }
};
}  // namespace shardwise::detail
