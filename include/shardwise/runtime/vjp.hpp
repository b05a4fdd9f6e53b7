// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/plan/vjp.hpp"
#include "shardwise/runtime/gradient.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace shardwise::detail {

/// Records a function of tensors, whose cotangents are requested later.
class graph_recording {
 public:
  template <class X>
  explicit graph_recording(const X&) : graph_recording() {}

  template <class X>
  [[nodiscard]] graph_tape::settled<X> argument(const X& x) {
    // Integers have cotangents of zeros, which no operation of the function creates.
    using T = typename X::value_type;
    enter_gradient_arithmetic<T>();
    if constexpr (!Fractional<T> && !is_compiled_already<pointwise<functions::identity>>)
      enter_function_on<functions::identity, T>();
    return handle_of<graph_tape::settled<X>>(stand_in_for(x.share()));
  }
  template <class X>
  void result(const X& x) {
    results_.push_back(x.share());
  }
  void finish();
  template <class X>
  [[nodiscard]] graph_tape::settled<X> given(const X&, int number) const {
    return handle_of<graph_tape::settled<X>>(made_[static_cast<std::size_t>(number)]);
  }

  class pullback {
   public:
    explicit pullback(const graph_recording& of) : of_(of) {}
    template <class X>
    void seed(const X& x) {
      seeds_.push_back(x.share());
    }
    void run();
    template <class Made, class X>
    [[nodiscard]] Made next(const X&) {
      return handle_of<Made>(std::move(made_[next_++]));
    }

   private:
    const graph_recording& of_;
    internal::growable<node_ptr> seeds_, made_;
    std::size_t next_ = 0;
  };

 private:
  /// The part of the recording that computing cotangents needs.
  struct state;

  graph_recording();
  [[nodiscard]] node_ptr stand_in_for(const node_ptr& real);

  std::shared_ptr<state> state_;
  std::shared_ptr<custom_gradients> custom_;
  std::shared_ptr<pool_state> home_;
  internal::growable<node_ptr> results_;
  internal::growable<node_ptr> made_;
};

}  // namespace shardwise::detail

namespace shardwise::internal {

template <>
struct recording_of<lazy_domain> {
  using type = graph_recording;
};
template <>
struct recording_of<any_domain> {
  using type = graph_recording;
};

}  // namespace shardwise::internal

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/vjp_work.hpp"
#endif
