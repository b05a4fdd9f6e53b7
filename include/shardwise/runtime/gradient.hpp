// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/make_nodes.hpp"
#include "shardwise/kernel/gradient_kernels.hpp"
#include "shardwise/plan/gradient.hpp"
#include "shardwise/runtime/any_operations.hpp"

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {
struct custom_gradient_of_nodes;
using custom_gradients = internal::growable<custom_gradient_of_nodes>;
}  // namespace internal

namespace detail {

/// Returns the gradients of a pending number with respect to tensors that it depends on.
[[nodiscard]] internal::growable<node_ptr> gradients_of(
    const node_ptr& loss, const internal::growable<node_ptr>& tensors);

/// Collects the custom gradients that are recorded during its lifetime.
[[nodiscard]] std::shared_ptr<custom_gradients> begin_recording();

/// Records a function of tensors by calling it, and adds its gradient to the graph.
class graph_tape {
 public:
  template <class X>
  explicit graph_tape(const X&) : custom_(begin_recording()) {}

  /// Returns the type of a result of the function afterwards: expressions become tensors.
  template <class X>
  struct settled_as {
    using type = X;
  };
  template <Operand X>
  struct settled_as<X> {
    using type =
        sharded_tensor<typename X::value_type, typename X::extents_type, typename X::layout_type>;
  };
  template <class X>
  using settled = typename settled_as<X>::type;

  template <class X>
  [[nodiscard]] settled<X> argument(const X& x, bool wanted) {
    const node_ptr& real = x.share();
    node_ptr stand_in = argument_node_of(real);
    stand_ins_.push_back(stand_in);
    real_.push_back(real);
    if (wanted) wanted_.push_back(stand_in);
    // A tensor that is not floating-point has a gradient of zeros, which no operation of `f`
    // creates.
    using T = typename X::value_type;
    if (wanted) enter_gradient_arithmetic<T>();
    if constexpr (!Fractional<T> && !is_compiled_already<pointwise<functions::identity>>)
      if (wanted) enter_function_on<functions::identity, T>();
    return handle_of<settled<X>>(std::move(stand_in));
  }
  template <class X>
  void result(const X& x) {
    results_.push_back(x.share());
  }
  void differentiate(bool keeps_loss, gradient_layout_function layout_of) {
    made_ = run(keeps_loss, layout_of);
  }
  template <class Made, class X>
  [[nodiscard]] Made next(const X&) {
    return handle_of<Made>(std::move(made_[next_++]));
  }

 private:
  [[nodiscard]] internal::growable<node_ptr> run(bool keeps_loss,
                                                 gradient_layout_function layout_of);

  std::shared_ptr<custom_gradients> custom_;
  internal::growable<node_ptr> stand_ins_;
  internal::growable<node_ptr> real_;
  internal::growable<node_ptr> wanted_;
  internal::growable<node_ptr> results_;
  internal::growable<node_ptr> made_;
  std::size_t next_ = 0;
};

}  // namespace detail

namespace internal {

template <>
struct tape_of<lazy_domain> {
  using type = graph_tape;
};
template <>
struct tape_of<any_domain> {
  using type = graph_tape;
};

}  // namespace internal

/// Returns the gradients of a pending number with respect to tensors that it depends on, one or
/// several in a tuple: for programs in the style of `backward()`. All values in between must be
/// pending too; the tensors themselves may be computed or not.
///
///     auto loss = sum(square(einsum<"bi,io->bo">(x, w) + b));
///     auto [dw, db] = gradient(loss, w, b);
template <class Loss, class... X>
  requires(EitherOperand<Loss> && sizeof...(X) > 0 && (... && EitherOperand<X>))
[[nodiscard]] auto gradient(const Loss& loss, const X&... x) {
  using judged = decltype(internal::judge_differentiation<Loss, X...>());
  using shown [[maybe_unused]] = decltype(typename judged::type{});
  internal::enter_gradient_arithmetic<typename Loss::value_type>();
  (internal::enter_gradient_arithmetic<typename X::value_type>(), ...);
  const internal::growable<node_ptr> made = detail::gradients_of(loss.share(), {x.share()...});
  std::size_t next = 0;
  const auto take = [&]<class Each>(const Each&) {
    using type = typename internal::asked_gradient<Each, left_pending_over<>>::type;
    return internal::handle_of<type>(made[next++]);
  };
  if constexpr (sizeof...(X) == 1)
    return take(x...);
  else
    return std::tuple{take(x)...};
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/gradient_work.hpp"
#endif
