// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/vjp.hpp"
#include "shardwise/runtime/gradient.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace shardwise::detail {

/// Records a function of tensors, which is asked for cotangents later.
class graph_recording {
 public:
  template <class X>
  explicit graph_recording(const X&) : state_(std::make_shared<state>()) {}

  template <class X>
  [[nodiscard]] graph_tape::settled<X> argument(const X& x) {
    const node_ptr real = x.share();
    node_ptr stand_in = std::make_shared<argument_node>(real);
    state_->graph.argument(stand_in, real);
    state_->arguments.push_back(stand_in);
    return graph_tape::settled<X>(std::move(stand_in));
  }
  template <class X>
  void result(const X& x) {
    state_->results.push_back(x.share());
  }
  void finish() {
    home_ = state_->results[0]->home();
    {
      const std::lock_guard turn(home_->turn());
      state_->graph.record(state_->results);
    }
    std::vector<value_id> of;
    for (const node_ptr& each : state_->results) of.push_back(state_->graph.id_of(each));
    made_ = state_->graph.splice(of, home_);
    state_->result_ids = std::move(of);
    state_->graph.let_go();
    state_->results.clear();
  }
  template <class X>
  [[nodiscard]] graph_tape::settled<X> given(const X&, int number) const {
    return graph_tape::settled<X>(made_[static_cast<std::size_t>(number)]);
  }

  class pullback {
   public:
    explicit pullback(const graph_recording& of) : of_(of) {}
    template <class X>
    void seed(const X& x) {
      seeds_.push_back(x.share());
    }
    void run() {
      state& all = *of_.state_;
      const std::lock_guard lock(all.mutex);
      std::vector<value_id> seeds, arguments, needed;
      for (const node_ptr& each : seeds_) seeds.push_back(all.graph.add_input(each));
      for (const node_ptr& each : all.arguments) arguments.push_back(all.graph.id_of(each));
      program_builder code(all.graph.code());
      differentiation gradients(code, 0, arguments);
      for (std::size_t r = 0; r < seeds.size(); ++r) gradients.seed(all.result_ids[r], seeds[r]);
      gradients.run();
      for (std::size_t k = 0; k < arguments.size(); ++k)
        needed.push_back(gradients.cotangent_of(
            arguments[k], gradient_layout(all.arguments[k]->tensor().layout)));
      made_ = all.graph.splice(needed, of_.home_);
    }
    template <class Made, class X>
    [[nodiscard]] Made next(const X&) {
      return Made(std::move(made_[next_++]));
    }

   private:
    const graph_recording& of_;
    std::vector<node_ptr> seeds_, made_;
    std::size_t next_ = 0;
  };

 private:
  struct state {
    std::mutex mutex;
    recorded_graph graph;
    std::vector<node_ptr> arguments, results;
    std::vector<value_id> result_ids;
  };

  std::shared_ptr<state> state_;
  std::shared_ptr<machine> home_;
  std::vector<node_ptr> made_;
};
template <>
struct recording_of<lazy_domain> {
  using type = graph_recording;
};
template <>
struct recording_of<any_domain> {
  using type = graph_recording;
};

}  // namespace shardwise::detail
