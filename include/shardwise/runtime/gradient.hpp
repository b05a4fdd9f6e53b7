// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/gradient.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/runtime/recorded_graph.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// The gradients of a pending number with respect to tensors that it is made of.
[[nodiscard]] inline std::vector<node_ptr> gradients_of(const node_ptr& loss,
                                                        const std::vector<node_ptr>& tensors) {
  const std::shared_ptr<machine> home = loss->home();
  recorded_graph graph;
  graph.share_nodes();
  for (const node_ptr& each : tensors) graph.argument(each, each);
  {
    const std::lock_guard turn(home->turn());
    graph.record({loss});
    graph.require_uncomputed(loss);
  }
  std::vector<value_id> of;
  for (const node_ptr& each : tensors) of.push_back(graph.id_of(each));
  program_builder code(graph.code());
  differentiation gradients(code, 0, of);
  gradients.seed(graph.id_of(loss));
  gradients.run();
  std::vector<value_id> made;
  for (std::size_t k = 0; k < of.size(); ++k)
    made.push_back(gradients.cotangent_of(of[k], gradient_layout(tensors[k]->tensor().layout)));
  return graph.splice(made, home);
}

/// Records a function of tensors by calling it, and makes its gradient a part of the graph.
class graph_tape {
 public:
  template <class X>
  explicit graph_tape(const X&) noexcept {}

  /// What a result of the function is afterwards: expressions are tensors.
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
    const node_ptr real = x.share();
    auto stand_in = std::make_shared<argument_node>(real);
    graph_.argument(stand_in, real);
    if (wanted) wanted_.push_back(stand_in);
    return settled<X>(node_ptr(std::move(stand_in)));
  }
  template <class X>
  void result(const X& x) {
    results_.push_back(x.share());
  }
  template <class LayoutOf>
  void differentiate(bool keeps_loss, const LayoutOf& layout_of) {
    std::vector<layout_desc> layouts;
    for (const node_ptr& each : wanted_) layouts.push_back(layout_of(each->tensor().layout));
    made_ = run(keeps_loss, layouts);
  }
  template <class Made, class X>
  [[nodiscard]] Made next(const X&) {
    return Made(std::move(made_[next_++]));
  }

 private:
  [[nodiscard]] std::vector<node_ptr> run(bool keeps_loss,
                                          const std::vector<layout_desc>& layouts) {
    const std::shared_ptr<machine> home = results_[0]->home();
    {
      const std::lock_guard turn(home->turn());
      graph_.record(results_);
    }
    std::vector<value_id> needed;
    std::vector<value_id> of;
    for (const node_ptr& each : wanted_) of.push_back(graph_.id_of(each));
    program_builder code(graph_.code());
    differentiation gradients(code, 0, of);
    gradients.seed(graph_.id_of(results_[0]));
    gradients.run();
    for (std::size_t k = 0; k < of.size(); ++k)
      needed.push_back(gradients.cotangent_of(of[k], layouts[k]));
    for (std::size_t r = keeps_loss ? 0 : 1; r < results_.size(); ++r)
      needed.push_back(graph_.id_of(results_[r]));
    return graph_.splice(needed, home);
  }

  recorded_graph graph_;
  std::vector<node_ptr> wanted_;
  std::vector<node_ptr> results_;
  std::vector<node_ptr> made_;
  std::size_t next_ = 0;
};
template <>
struct tape_of<lazy_domain> {
  using type = graph_tape;
};
template <>
struct tape_of<any_domain> {
  using type = graph_tape;
};

}  // namespace detail

/// The gradients of a number that is pending with respect to tensors that it is made of, one or
/// several in a tuple: for programs that write `backward()` elsewhere. What lies between is pending
/// too; the tensors themselves may be computed or not.
///
///     auto loss = sum(square(einsum<"bi,io->bo">(x, w) + b));
///     auto [dw, db] = gradient(loss, w, b);
template <class Loss, class... X>
  requires(EitherOperand<Loss> && sizeof...(X) > 0 && (... && EitherOperand<X>))
[[nodiscard]] auto gradient(const Loss& loss, const X&... x) {
  const std::vector<node_ptr> made = detail::gradients_of(loss.share(), {x.share()...});
  std::size_t next = 0;
  const auto take = [&]<class Each>(const Each&) {
    return typename detail::asked_gradient<Each, left_pending_over<>>::type(made[next++]);
  };
  if constexpr (sizeof...(X) == 1)
    return take(x...);
  else
    return std::tuple{take(x)...};
}

}  // namespace shardwise
