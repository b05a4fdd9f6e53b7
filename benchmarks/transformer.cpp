// SPDX-License-Identifier: BSL-1.0
#include "../examples/demo/model.hpp"
#include "harness.hpp"
#include <shardwise/engine/lower.hpp>
#include <shardwise/engine/splice.hpp>
#include <shardwise/shardwise.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

/// A step of the demo's transformer, which is compiled once.
struct training {
  explicit training(index_t data, index_t model_parallel, unsigned threads)
      : pool(demo::pod{data, model_parallel}, threads) {}

  void operator()() { bench::keep(train(m, s, 1e-3F, seen, next)); }

  [[nodiscard]] demo::tokens text(index_t ahead) const {
    return generate<demo::tokens>(pool, [ahead](const global_index& at) {
      return static_cast<std::int32_t>((at[0] * 31 + (at[1] + ahead) * 7) % demo::bytes);
    });
  }

  device_pool pool;
  demo::model m = nn::initialise<demo::model>(pool, random_key{1});
  demo::state s = demo::learn.optimizer.start(m);
  demo::tokens seen = text(0), next = text(1);
  decltype(step(demo::learn)) train = step(demo::learn);
};

/// The steps of a program, each compiled alone and called several times in a row on tensors of the
/// same layouts, which so are in the caches.
class steps_alone {
 public:
  static constexpr int calls = 4;

  steps_alone(const device_pool& pool, const program_view& program) : home_(pool.state()) {
    const prepared_program prepared(program, {});
    const lowered_program& all = prepared.planned();
    for (std::size_t s = 0; s < all.steps.size(); ++s)
      if (all.steps[s].kind != step_kind::input && all.steps[s].which == 0 && all.lives[s].needed)
        add(all, all.steps[s]);
  }

  void operator()() {
    for (alone& each : steps_)
      for (int i = 0; i < calls; ++i) each.program.run(each.tensors);
  }

 private:
  struct alone {
    internal::steady_program program;
    std::vector<tensor_node*> tensors;
  };

  void add(const lowered_program& all, const step_desc& step) {
    internal::growable<node_ptr> nodes(static_cast<std::size_t>(all.count));
    internal::growable<instruction_work> works = all.works;
    internal::growable<internal::recorded_argument> arguments;
    std::vector<tensor_node*> tensors;
    for (const std::int32_t o : step.operands) {
      node_ptr& read = nodes[static_cast<std::size_t>(all.steps[static_cast<std::size_t>(o)].root)];
      if (read != nullptr) continue;
      const node_ptr real = tensor_of(all.steps[static_cast<std::size_t>(o)].result);
      read = detail::argument_node_of(real);
      arguments.push_back({read, real});
      tensors.push_back(real.get());
    }
    internal::program_splice(all.view(), nodes, works).make({step.root}, home_);
    steps_.push_back(
        {internal::steady_program(arguments, {{nodes[static_cast<std::size_t>(step.root)], -1}}),
         std::move(tensors)});
  }

  /// Returns the tensor of a type and a layout, which all steps share.
  [[nodiscard]] node_ptr tensor_of(const tensor_desc& type) {
    for (const node_ptr& each : tensors_)
      if (each->tensor() == type) return each;
    node_ptr made;
    switch (type.type) {
      case element::f32:
        made = filled<float>(type);
        break;
      case element::boolean:
        made = filled<bool>(type);
        break;
      case element::i32:
        made = filled<std::int32_t>(type);
        break;
      default:
        made = filled<std::int64_t>(type);
        break;
    }
    tensors_.push_back(made);
    return made;
  }
  /// Numbers that are no special case of any operation: valid indices, and fractions around 1.
  template <class T>
  [[nodiscard]] node_ptr filled(const tensor_desc& type) const {
    auto made = std::make_shared<tensor_node>(home_, home_->place(type), element_kernels_of<T>);
    made->allocate(home_->storage(), home_->memory());
    for (index_t s = 0; s < made->where().count(); ++s)
      for (index_t i = 0; i < made->where().size_of_shard(s); ++i) {
        const index_t some = i * 40503 % 251;
        made->template writable_data<T>(s)[i] =
            static_cast<T>(std::is_floating_point_v<T> ? 0.5 + static_cast<double>(some) / 250
                                                       : static_cast<double>(some % 8));
      }
    made->set_ready();
    return made;
  }

  std::shared_ptr<pool_state> home_;
  std::vector<node_ptr> tensors_;
  std::vector<alone> steps_;
};

/// A whole step beside the sum of its parts.
bench::row row_of(const std::string& name, index_t data, index_t model_parallel, unsigned threads) {
  const auto whole = std::make_shared<training>(data, model_parallel, threads);
  (*whole)();  // registers the kernels
  using step_program = traced_program<3072>;
  const auto traced = std::make_unique<const step_program>(
      trace_nests_program<3072, demo::model, demo::state, demo::number, demo::tokens, demo::tokens>(
          optim::functional_step{demo::learn}, data, model_parallel));
  const auto parts = std::make_shared<steps_alone>(whole->pool, traced->view());
  return {name,
          "its clusters alone",
          [whole] { (*whole)(); },
          [parts] { (*parts)(); },
          1.0 / steps_alone::calls,
          1 / 1.15};
}

const bench::add here([] {
  return std::vector<bench::row>{row_of("step of the demo's transformer", 1, 1, 1),
                                 row_of("the same on mesh(data=2, model=4), 2 cores", 2, 4, 2)};
});

}  // namespace
