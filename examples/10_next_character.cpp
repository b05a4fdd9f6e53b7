// SPDX-License-Identifier: BSL-1.0
// A training step written out: loss, gradient and update of a next-character model are functions of
// tensors, their cost is known at compile time, and eight devices compute the same as one. The step
// is in next_character/model.hpp.
#include "next_character/model.hpp"
#include "next_character/vocabulary.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <string_view>
#include <tuple>
#include <utility>

using namespace next_character;

constexpr std::string_view corpus =
    "A sharding says who holds what. Along an axis of the mesh the devices hold parts of a tensor, "
    "or the same part each, or terms of a sum that is not yet taken. A product of two tensors is "
    "computed where their parts meet; where they do not, a reshard brings them together, and what "
    "that moves is written down before anything runs. A step of training has no other rules: the "
    "gradient of what was summed over the batch is a sum that is pending, and to scatter it is to "
    "split the running mean of the gradients as well.";

/// The one-hot tensors of a batch, created on the devices: there is no such matrix on the host.
template <Mesh M>
examples<M> make_examples(const device_pool& pool, const vocabulary& known, index_t from) {
  return distribute<examples<M>>(pool, [&](const global_index& at) {
    const index_t place = (from + at[0] + at[1] / symbols) % static_cast<index_t>(corpus.size());
    return known.code(corpus[static_cast<std::size_t>(place)]) == at[1] % symbols ? 1.0F : 0.0F;
  });
}
template <Mesh M>
targets<M> make_targets(const device_pool& pool, const vocabulary& known, index_t from) {
  return distribute<targets<M>>(pool, [&](const global_index& at) {
    const index_t place = (from + at[1] + context) % static_cast<index_t>(corpus.size());
    return known.code(corpus[static_cast<std::size_t>(place)]) == at[0] ? 1.0F : 0.0F;
  });
}

/// The state of training on the devices of one mesh.
template <Mesh M>
struct training {
  device_pool pool{M{}};
  weights<M> w = zeros<weights<M>>(pool);
  momentum<M> m = zeros<momentum<M>>(pool);

  /// Takes one step and returns the loss before it.
  float advance(const vocabulary& known, index_t from) {
    const auto x = make_examples<M>(pool, known, from);
    const auto y = make_targets<M>(pool, known, from);
    pool.reset_counters();
    auto [loss, new_w, new_m] = update{6.0F}(x, y, w, m);
    sync(loss, new_w, new_m);
    w = std::move(new_w);
    m = std::move(new_m);
    return to_host(loss)();
  }
};

/// Nothing is computed for these pictures: expressions have layouts too.
void show_gradient(const training<pod>& run, const vocabulary& known) {
  const auto gradient = std::get<1>(differentiate(make_examples<pod>(run.pool, known, 0),
                                                  make_targets<pod>(run.pool, known, 0), run.w));
  std::cout << "\nThe gradient, before and after the reduce_scatter over data:\n";
  visualize(gradient);
  visualize(reshard<P<"data", "model">>(gradient));
}

/// The largest difference between the weights of two trainings, as a part of the largest weight.
template <class Weights, class Others>
float difference(const Weights& ours, const Others& theirs) {
  const auto a = to_host(ours), b = to_host(theirs);
  float most = 0, apart = 0;
  for (std::size_t i = 0; i < a.elements().size(); ++i) {
    most = std::max(most, std::abs(a.elements()[i]));
    apart = std::max(apart, std::abs(a.elements()[i] - b.elements()[i]));
  }
  return apart / most;
}

int main() {
  const vocabulary known(corpus, symbols);
  training<pod> many;
  training<single> one;

  std::cout << "The step, as the compiler recorded it:\n";
  write_program(std::cout, program_of<pod>);
  show_gradient(many, known);

  float first = 0, last = 0, apart = 0;
  bool as_foretold = true;
  for (index_t s = 0; s < 60; ++s) {
    last = many.advance(known, 7 * s);
    as_foretold = as_foretold && many.pool.counters() == cost<pod>;
    if (s == 0) first = last;
    apart = std::max(apart, std::abs(last - one.advance(known, 7 * s)) / last);
  }
  const float weights_apart = difference(many.w, one.w);
  std::cout << "\nloss " << first << " nats at first, " << last << " after 60 steps\n"
            << "costs of a step, traced and counted: "
            << (as_foretold ? "the same" : "not the same") << "\non one device the same within "
            << apart << ", weights within " << weights_apart << '\n';
  const bool is_same = apart < 1e-4F && weights_apart < 1e-4F;
  return last < first / 3 && as_foretold && is_same ? 0 : 1;
}
