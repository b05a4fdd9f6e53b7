// SPDX-License-Identifier: BSL-1.0
// What all recipes share: the step that they take, the loop around it, and the comparison with the
// same program on one device. Where MPI is found, several processes may run a recipe: the first one
// prints.
//
// A recipe is a class template on a mesh. `model<M>` says how weights are split, `input` how a
// batch is; the loss is a class. All that a recipe moves is written in its model and follows from
// its types.
#pragma once

#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace recipes {

using namespace shardwise;

inline constexpr index_t batch = 16, positions = 8, width = 16;

template <class M, class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<M, Spec>>;
/// The mean of the squared differences between what a model gives and what is wanted.
struct squared_error {
  constexpr auto operator()(const auto& m, const auto& x, const auto& wanted) const {
    return reshard<P<>>(nn::mse(m(x), wanted));
  }
};
inline constexpr optim::training_step learn{squared_error{}, optim::adamw{}};

/// Loss and gradients on paper: all that a step moves, since an optimizer moves nothing.
template <class Recipe>
inline constexpr cost_ledger step_cost =
    trace_nests<512, typename Recipe::model, typename Recipe::input, typename Recipe::input>(
        value_and_grad(squared_error{}));
/// What a device holds between steps: the model, and the two moments of Adam.
template <class Recipe>
inline constexpr index_t state_bytes = 3 * nest_bytes<typename Recipe::model>;

/// A pool of a mesh: the processes of the program share its devices if there are enough.
template <Mesh M>
device_pool pool_of(const M& mesh) {
  return M::devices < process_count() ? device_pool(mesh) : distributed_pool(mesh);
}

/// The losses of a short training. Random numbers are the same on every mesh.
template <class Recipe>
std::vector<float> train(int steps) {
  using M = typename Recipe::mesh_type;
  using input = typename Recipe::input;
  const device_pool pool = pool_of(M{});
  auto m = nn::initialise<typename Recipe::model>(pool, random_key{1});
  auto state = learn.optimizer.start(m);
  const auto x = normal<input>(pool, random_key{2});
  const input wanted = tanh(normal<input>(pool, random_key{3}));
  auto learn_step = step(learn);
  std::vector<float> losses;
  losses.reserve(static_cast<std::size_t>(steps));
  for (int s = 0; s < steps; ++s)
    losses.push_back(to_host(learn_step(m, state, 0.01F, x, wanted))());
  return losses;
}

/// Trains on many devices and on one, prints both curves and what a step moves, and returns 0 if
/// the loss falls and the curves are one.
template <class Many, class One>
int compare(const char* name) {
  if (process_index() > 0 && std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
  constexpr int steps = 12;
  const std::vector<float> many = train<Many>(steps), one = train<One>(steps);
  const cost_ledger& cost = step_cost<Many>;
  std::printf("%s\nstep  %lld devices  one device\n", name,
              static_cast<long long>(Many::mesh_type::devices));
  bool agrees = true;
  for (std::size_t s = 0; s < many.size(); ++s) {
    agrees = agrees && std::abs(many[s] - one[s]) / one[s] < 1e-4F;
    if (s % 3 == 0 || s + 1 == many.size())
      std::printf("%4zu  %9.6f  %10.6f\n", s, double{many[s]}, double{one[s]});
  }
  for (const axis_desc& axis : cost.mesh().axes)
    std::printf("over %.*s: %lld collectives, %lld bytes received\n",
                static_cast<int>(axis.label.size()), axis.label.data(),
                static_cast<long long>(cost.collectives(axis.label)),
                static_cast<long long>(cost.bytes_moved(axis.label)));
  const bool falls = many.back() < 0.9F * many.front();
  std::printf("%s; %s\n", agrees ? "one curve" : "THE CURVES DIFFER",
              falls ? "the loss falls" : "THE LOSS DOES NOT FALL");
  return agrees && falls ? 0 : 1;
}

}  // namespace recipes
