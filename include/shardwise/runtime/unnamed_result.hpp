// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/assign.hpp"
#include "shardwise/runtime/waiting.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// An unnamed result of an elementwise function in programs of the compiled library: a tensor,
/// which cannot be assigned, since with headers alone it is an expression of a type of its own.
template <class T, class Extents, class Layout>
class unnamed_result
    : public sharded_tensor<T, Extents, Layout>,
      public type_parts::named_once<paper_tensor<T, Extents, Layout>, internal::a_tensor> {
 public:
  explicit unnamed_result(sharded_tensor<T, Extents, Layout> tensor) noexcept
      : sharded_tensor<T, Extents, Layout>(std::move(tensor)) {}
  unnamed_result(const unnamed_result&) = default;
  unnamed_result(unnamed_result&&) noexcept = default;
  using type_parts::named_once<paper_tensor<T, Extents, Layout>, internal::a_tensor>::operator=;
  /// As in an expression: the assignment above reports its error for the same type too.
  void operator=(const unnamed_result&) requires(sizeof(T) == 0) = delete;
  ~unnamed_result() = default;
};

namespace detail {

template <class Function, class Paper, class... X>
  requires(build_config::compiled&& is_compiled<Function, Paper, X...>)
struct waiting<pointwise<Function>, Paper, X...> {
  using type = unnamed_result<typename Paper::value_type, typename Paper::extents_type,
                              typename Paper::layout_type>;

  [[nodiscard]] static type make(const extents_desc& extents, X... operands) {
    return type(handle_of<tensor_from<Paper>>(
        each_node_of<Function, Paper>(extents, static_cast<X>(operands)...)));
  }
};

}  // namespace detail

}  // namespace shardwise
