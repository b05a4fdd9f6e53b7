// SPDX-License-Identifier: BSL-1.0
// Learns handwritten digits on four devices: two along `data`, two along `model`.
//
//     SHARDWISE_MNIST=folder mnist     trains on 8,000 of the folder's images, tests on 2,000
//     mnist --drawn                    draws its own digits, fewer and simpler ones
//     mnist --convolution              with convolutions in place of the first layer
#include "digits.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

namespace {

using namespace shardwise;
using namespace mnist;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
constexpr index_t batch_size = 100, hidden = 256;

template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<pod, Spec>>;
using pictures = tensor<float, P<"data", none>, batch_size, pixels>;
using labels = tensor<std::int32_t, P<"data">, batch_size>;

// The first layer is split by columns, the second by rows: one reduction over `model` between them
// and the loss.
using first_layer =
    nn::linear<tensor<float, P<none, "model">, pixels, hidden>, tensor<float, P<"model">, hidden>>;
using second_layer = nn::linear<tensor<float, P<"model", none>, hidden, classes>,
                                tensor<float, P<none>, classes>, P<"data", none>>;
using dense_model = nn::mlp<first_layer, second_layer, nn::with_relu>;

// Features are split, then the channels that they are to the next layer: two reductions over
// `model`, of the second convolution and of what is linear.
constexpr index_t few = 8, many = 16, quarter = side / 4;
using around = nn::with<paddings<1, 1>>;
using first_features = nn::convolution<tensor<float, P<"model", none, none, none>, few, 1, 3, 3>,
                                       tensor<float, P<"model">, few>, around>;
using more_features =
    nn::convolution<tensor<float, P<none, "model", none, none>, many, few, 3, 3>,
                    tensor<float, P<"model">, many>, around, P<"data", "model", none, none>>;
using last_layer = nn::linear<tensor<float, P<"model", none>, many * quarter * quarter, classes>,
                              tensor<float, P<none>, classes>, P<"data", none>>;

template <class First, class Second, class Last>
struct two_convolutions {
  First first;
  Second second;
  Last last;

  template <class X>
  constexpr auto operator()(const X& x) const {
    const auto image = reshape<extents<batch_size, 1, side, side>>(x);
    const auto coarse = max_pool<windows<2, 2>>(relu(first(image)));
    const auto coarser = max_pool<windows<2, 2>>(relu(second(coarse)));
    return last(reshape<extents<batch_size, many * quarter * quarter>>(coarser));
  }
};
using convolutional_model = two_convolutions<first_features, more_features, last_layer>;

/// Bytes as brightnesses from 0 to 1.
constexpr auto bright = [](const auto& x) { return x * (1 / 255.0F); };
constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::cross_entropy(m(bright(x)), wanted));
};
constexpr optim::training_step learn{loss, optim::adamw{.weight_decay = 0.05}};

template <class Model>
constexpr auto cost_of = trace_nests<512, Model, optim::adam_state<Model>, scalar<float, pod>,
                                     pictures, labels>(optim::functional_step{learn});
constexpr auto dense_cost = cost_of<dense_model>;
static_assert(dense_cost.collectives("model") == 1);
// The loss, and the gradients of four tensors.
static_assert(dense_cost.collectives("data") == 1 + 4);
constexpr auto convolutional_cost = cost_of<convolutional_model>;
// Besides those of the program the cotangent of the second convolution's result, which every
// device that has channels before it needs as a whole.
static_assert(convolutional_cost.collectives("model") == 2 + 1);
static_assert(convolutional_cost.collectives("data") == 1 + 6);

/// The part of the images that the model names rightly, of as many as fill batches.
template <class Model>
double test(const device_pool& pool, const Model& m, const digits& on) {
  index_t right = 0, all = 0;
  for (auto&& [x, wanted] :
       on.samples() | batch(batch_size, last_batch::dropped) | distribute<pictures, labels>(pool)) {
    const auto scores = to_host(m(bright(x)));
    const auto label = to_host(wanted);
    for (index_t i = 0; i < batch_size; ++i, ++all) {
      index_t best = 0;
      for (index_t c = 1; c < classes; ++c)
        if (scores(i, c) > scores(i, best)) best = c;
      right += best == label(i) ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(all);
}

template <class Model>
double train(const digits& seen, const digits& unseen, int rounds, double peak) {
  const device_pool pool{pod{}};
  auto m = nn::initialise<Model>(pool, random_key{2026});
  auto state = learn.optimizer.start(m);
  auto learn_step = step(learn);
  auto loader = seen.samples() | shuffle(random_key{1}) | augment(random_key{2}, moved{}) |
                batch(batch_size, last_batch::dropped) | distribute<pictures, labels>(pool) |
                prefetch();
  const optim::warmup_cosine schedule{.peak = peak, .warmup = 20, .steps = rounds * loader.size()};
  index_t steps = 0;
  double score = 0;
  for (int round = 0; round < rounds; ++round) {
    double sum = 0;
    for (auto&& [x, wanted] : loader) {
      const auto rate = static_cast<float>(schedule(steps++));
      sum += double{to_host(learn_step(m, state, rate, x, wanted))()};
    }
    score = test(pool, m, unseen);
    std::printf("round %2d: loss %.4f, %.2f %% of the unseen images\n", round + 1,
                sum / static_cast<double>(loader.size()), 100 * score);
    std::fflush(stdout);
  }
  return score;
}

int run(bool drawn, bool convolutional) {
  const auto begin = std::chrono::steady_clock::now();
  digits seen, unseen;
  if (drawn) {
    seen = draw(1000, 1);
    unseen = draw(400, 2);
  } else {
    const char* const folder = std::getenv("SHARDWISE_MNIST");
    if (folder == nullptr)
      throw std::runtime_error(
          "SHARDWISE_MNIST names no folder with MNIST's files; `mnist --drawn` needs none");
    const digits all = read(folder);
    // Every fifth is for the test: the first half of the set was written by other people.
    for (index_t i = 0; i < all.size(); ++i) (i % 5 == 4 ? unseen : seen).add(all, i);
  }
  std::printf("%lld images to learn from, %lld to be tested with\n",
              static_cast<long long>(seen.size()), static_cast<long long>(unseen.size()));
  const int rounds = drawn ? 8 : convolutional ? 16 : 20;
  const double score = convolutional ? train<convolutional_model>(seen, unseen, rounds, 6e-3)
                                     : train<dense_model>(seen, unseen, rounds, 2e-3);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%.1f s in all\n", took.count());
  return score >= (convolutional ? 0.975 : 0.95) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    bool drawn = false, convolutional = false;
    for (int i = 1; i < argc; ++i) {
      const std::string_view option = argv[i];
      if (option != "--drawn" && option != "--convolution")
        throw std::runtime_error("usage: mnist [--drawn] [--convolution]");
      (option == "--drawn" ? drawn : convolutional) = true;
    }
    return run(drawn, convolutional);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "mnist: %s\n", problem.what());
    return 2;
  }
}
