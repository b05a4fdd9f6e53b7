// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/device_pool.hpp"
#include "shardwise/engine/program_input.hpp"
#include "shardwise/engine/run_program.hpp"
#include "shardwise/kernel/gradient_kernels.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/runtime/repeated_operands.hpp"
#include "shardwise/runtime/unnamed_result.hpp"
#include "shardwise/runtime/waiting.hpp"
#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/deferred.hpp"
#endif

#include <utility>

namespace shardwise {

namespace detail {

/// Returns zeros like a tensor, computed if they are read.
template <class X>
[[nodiscard]] X pending_zeros_like(const X& like) {
  using T = typename X::value_type;
  if constexpr (!is_compiled_already<pointwise<functions::identity>>)
    enter_function_on<functions::identity, T>();
  return handle_of<X>(fill_node_of(like.share(), constant_operation::how(T{})));
}

/// Creates the node of an operation on a list of tensors of one type, at most `max_operands`, after
/// they have been gathered over permitted axes, a bit mask.
template <class Operation, Element Made, class X>
[[nodiscard]] node_ptr list_node_of(unsigned permitted, const X* const* list, int count);

}  // namespace detail

/// The operations on tensors: elementwise ones are deferred to be fused, the others become nodes.
struct lazy_domain {
  static constexpr bool has_values = true;

  /// A tensor with these types.
  template <class T, class Extents, class Layout>
  using tensor = sharded_tensor<T, Extents, Layout>;
  /// The type of the result of `apply`.
  template <class Operation, class Paper, class... X>
  using made = typename detail::waiting<Operation, Paper, X&&...>::type;
  template <class X>
  [[nodiscard]] static X pending_zeros(const X& like) {
    return detail::pending_zeros_like(like);
  }

  template <class Operation, class Paper, class Result, class... X>
  [[nodiscard]] static auto apply(const Result& result, X&&... operands) {
    using waiting = detail::waiting<Operation, Paper, X&&...>;
    if constexpr (detail::may_repeat<X&&...>) {
      const detail::repeated_operands<X...> as_one(operands...);
      return waiting::make(result, std::forward<X>(operands)...);
    } else {
      return waiting::make(result, std::forward<X>(operands)...);
    }
  }
  /// An operation on a list of tensors of one type, after they have been gathered over permitted
  /// axes; the result has the types of `Made`.
  template <class Operation, class Made, class X>
  [[nodiscard]] static Made apply_to_list(unsigned permitted, const X* const* list, int count) {
    return internal::handle_of<Made>(
        detail::list_node_of<Operation, typename Made::value_type>(permitted, list, count));
  }
  /// A number among the operands, as a tensor of rank 0.
  template <Element T, class Model>
  [[nodiscard]] static auto number(const Model& model, T value) {
    using number_type = tensor<T, extents<>, layout<mesh_of<Model>, P<>>>;
    return internal::handle_of<number_type>(internal::number_node_beside(model, value));
  }
  /// A further result of an operation with several results; the type of the result of `second`.
  template <class Paper>
  using made_second = detail::tensor_from<Paper>;
  template <class Paper, class X>
  [[nodiscard]] static auto second(const X& first) {
    return internal::handle_of<detail::tensor_from<Paper>>(
        result_node_of(first.share(), 1, element_kernels_of<typename Paper::value_type>));
  }

  template <class Made, class X>
  [[nodiscard]] static Made reshard(X&& x) {
    return internal::handle_of<Made>(
        reshard_node_of(detail::read_operand<X>(std::forward<X>(x)), Made::layout_type::value));
  }
  template <class Made, class X>
  [[nodiscard]] static Made manually(X&& x, const tensor_desc& result) {
    return internal::handle_of<Made>(
        manual_node_of(detail::read_operand<X>(std::forward<X>(x)), result));
  }
  template <class Made, class X>
  [[nodiscard]] static Made manually(X&& x, const tensor_desc& result,
                                     const manual_collective& called) {
    return internal::handle_of<Made>(collective_node_of(detail::read_operand<X>(std::forward<X>(x)),
                                                        manual_change(called), result));
  }
};

}  // namespace shardwise
