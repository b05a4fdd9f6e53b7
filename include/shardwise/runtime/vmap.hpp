// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/kernel/gradient_kernels.hpp"
#include "shardwise/plan/vmap.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/runtime/gradient.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace shardwise::detail {

/// Registers the kernels that batches need in addition to the operations of a function; done once.
template <Element T>
void enter_batch_kernels() {
  if constexpr (!build_config::compiled) {
    static const bool entered = [] {
      enter_function<functions::identity, T, T>();
      enter_operation<reshape_operation, T, T>();
      enter_operation<broadcast_to_operation, T, T>();
      enter_operation<transpose_operation, T, T>();
      enter_operation<unsqueeze_operation, T, T>();
      return true;
    }();
    (void)entered;
  }
}

/// Records a function of elements of tensors by calling it, and adds its computation for all
/// elements to the graph.
class graph_batch {
 public:
  template <class X>
  explicit graph_batch(const X&) : custom_(begin_recording()) {}

  template <class X>
  using settled = graph_tape::settled<X>;

  template <class Element, class X>
  [[nodiscard]] settled<Element> argument(const X& x, int operand, int d) {
    enter_batch_kernels<typename X::value_type>();
    const node_ptr& real = x.share();
    met_.meet(real->home()->mesh(), real->tensor(), operand, d);
    node_ptr stand_in = element_node_of(real, without_dim(real->tensor(), d));
    arguments_.push_back({stand_in, real, d});
    return handle_of<settled<Element>>(std::move(stand_in));
  }
  template <class X>
  void result(const X& x) {
    enter_batch_kernels<typename X::value_type>();
    results_.push_back(x.share());
  }
  void run();
  template <class Made, class X>
  [[nodiscard]] Made next(const X&) {
    return handle_of<Made>(std::move(made_[next_++]));
  }

 private:
  struct mapped_argument {
    node_ptr stand_in;
    node_ptr real;
    int dim;
  };

  std::shared_ptr<custom_gradients> custom_;
  met_batch met_;
  internal::growable<mapped_argument> arguments_;
  internal::growable<node_ptr> results_;
  internal::growable<node_ptr> made_;
  std::size_t next_ = 0;
};
template <>
struct batch_tape_of<lazy_domain> {
  using type = graph_batch;
};
template <>
struct batch_tape_of<any_domain> {
  using type = graph_batch;
};

}  // namespace shardwise::detail

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/vmap_work.hpp"
#endif
