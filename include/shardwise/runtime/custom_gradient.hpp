// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/plan/custom_gradient.hpp"
#include "shardwise/runtime/gradient.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// Records the function of a custom gradient by calling it.
class graph_custom_recording {
 public:
  template <class X>
  explicit graph_custom_recording(const X&) : begin_(next_sequence()) {}
  template <class X>
  using settled = typename graph_tape::settled<X>;

  template <class X>
  [[nodiscard]] settled<X> argument(const X& x) const {
    node_ptr read = x.share();
    read->name();
    return handle_of<settled<X>>(std::move(read));
  }
  template <class X>
  void result(const X& x) {
    node_ptr made = x.share();
    if (!is_own(made))
      made = settled<X>(elementwise<functions::identity>(handle_of<settled<X>>(std::move(made))))
                 .share();
    made->name();
    results_.push_back(std::move(made));
  }
  void finish_results();
  template <class X>
  [[nodiscard]] settled<X> given(const X&) {
    return handle_of<settled<X>>(results_[next_++]);
  }
  [[nodiscard]] bool records() const;

  template <class Made, class X>
  [[nodiscard]] Made cotangent(const X& x) {
    const node_ptr of = x.share();
    cotangents_.push_back(cotangent_node_of(of, gradient_layout(of->tensor().layout)));
    return handle_of<Made>(cotangents_.back());
  }
  template <class F>
  [[nodiscard]] auto call(const F& f) {
    const again_what_follows mark;
    // This includes expressions.
    const auto settle = []<class X>(const X& x) {
      if constexpr (AnyRefused<X>)
        return x;
      else
        return handle_of<settled<X>>(x.share());
    };
    const auto made = f();
    return map_nest(made, settle);
  }
  template <class X, class G>
  void gradient(const X& x, const G& g) {
    add_gradient(x.share(), g.share());
  }
  void finish_gradients();

 private:
  /// While it lives, what is computed is marked to be recomputed by gradients.
  class again_what_follows {
   public:
    again_what_follows() noexcept;
    again_what_follows(const again_what_follows&) = delete;
    again_what_follows& operator=(const again_what_follows&) = delete;
    ~again_what_follows();

   private:
    bool before_;
  };

  /// Returns true if the function has computed the value since the recording began and has not
  /// returned it before.
  [[nodiscard]] bool is_own(const node_ptr& made) const;
  void add_gradient(node_ptr x, node_ptr g);

  std::uint64_t begin_;
  internal::growable<node_ptr> results_, cotangents_, arguments_, gradients_;
  std::size_t next_ = 0;
};
template <>
struct custom_recording_of<lazy_domain> {
  using type = graph_custom_recording;
};
template <>
struct custom_recording_of<any_domain> {
  using type = graph_custom_recording;
};

}  // namespace shardwise::detail

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/runtime/custom_gradient_work.hpp"
#endif
