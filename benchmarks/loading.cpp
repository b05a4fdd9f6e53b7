// SPDX-License-Identifier: BSL-1.0
// Steps on batches that a loader reads ahead, beside steps on batches that stay
// on the devices.
#include "harness.hpp"
#include <shardwise/data/block_rows.hpp>
#include <shardwise/data/distribute_batches.hpp>
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <range/v3/view/zip.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct single : mesh<axis<"data", 1>> {};
template <class T, class Spec, index_t... N>
using tensor = sharded_tensor<T, extents<N...>, layout<single, Spec>>;
constexpr index_t images = 20000, pixels = 784, classes = 10;

/// Images and labels on the host.
struct data_set {
  std::vector<std::uint8_t> pictures, labels;

  data_set() {
    for (index_t i = 0; i < images * pixels; ++i)
      pictures.push_back(static_cast<std::uint8_t>(i * i % 251));
    for (index_t i = 0; i < images; ++i) labels.push_back(static_cast<std::uint8_t>(i % classes));
  }
  [[nodiscard]] auto samples() const {
    return ranges::views::zip(rows_of(std::span<const std::uint8_t>(pictures), {pixels}), labels);
  }
};

constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::cross_entropy(m(x * (1 / 255.0F)), wanted));
};
constexpr optim::training_step learn{loss, optim::sgd{.momentum = 0.9}};

template <index_t Batch, index_t Hidden>
struct training {
  using pictures = tensor<float, P<"data", none>, Batch, pixels>;
  using labels = tensor<std::int32_t, P<"data">, Batch>;
  template <index_t In, index_t Out>
  using dense = nn::linear<tensor<float, P<none, none>, In, Out>, tensor<float, P<none>, Out>>;
  using model_type = nn::mlp<dense<pixels, Hidden>, dense<Hidden, classes>, nn::with_relu>;

  data_set data;
  device_pool pool{single{}, 1};
  model_type model = nn::initialise<model_type>(pool, random_key{1});
  optim::sgd_state<model_type> state = learn.optimizer.start(model);
  compiled_step<std::remove_const_t<decltype(learn)>> train = step(learn);

  void operator()(const pictures& x, const labels& wanted) {
    bench::keep(train(model, state, 0.01F, x, wanted));
  }
};

/// A step on the next batch of a loader that reads ahead, and one on the next of those that are
/// there.
template <index_t Batch, index_t Hidden>
void add_row(std::vector<bench::row>& to, const std::string& name) {
  using job = training<Batch, Hidden>;
  const auto ours = std::make_shared<job>(), peer = std::make_shared<job>();
  auto loader = std::make_shared<
      decltype(data_set().samples() | shuffle(random_key{3}) | batch(Batch, last_batch::dropped) |
               distribute<typename job::pictures, typename job::labels>(ours->pool) | prefetch())>(
      ours->data.samples() | shuffle(random_key{3}) | batch(Batch, last_batch::dropped) |
      distribute<typename job::pictures, typename job::labels>(ours->pool) | prefetch());
  using pass = typename std::remove_cvref_t<decltype(*loader)>::iterator;
  const auto at = std::make_shared<std::optional<pass>>();
  // More than the cache of a core keeps: a loop over a resident data set comes to others first,
  // too.
  struct resident {
    typename job::pictures x;
    typename job::labels wanted;
  };
  const auto batches = std::make_shared<std::vector<resident>>();
  for (int i = 0; i < 16; ++i)
    batches->push_back(
        {zeros<typename job::pictures>(peer->pool), zeros<typename job::labels>(peer->pool)});
  const auto next = std::make_shared<std::size_t>(0);
  to.push_back({.name = name,
                .yardstick = "steps on resident batches",
                .subject =
                    [ours, loader, at] {
                      if (!*at || **at == loader->end()) {
                        at->reset();
                        at->emplace(loader->begin());
                      }
                      auto& batch = ***at;
                      (*ours)(std::get<0>(batch), std::get<1>(batch));
                      ++**at;
                    },
                .peer =
                    [peer, batches, next] {
                      const resident& batch = (*batches)[(*next)++ % batches->size()];
                      (*peer)(batch.x, batch.wanted);
                    },
                .goal = 1 / 1.05,
                .rounds = 30});
}

const bench::add here([] {
  std::vector<bench::row> all;
  add_row<128, 128>(all, "loaded steps of MLP 784-128-10, batch 128");
  add_row<512, 1024>(all, "loaded steps of MLP 784-1024-10, batch 512");
  return all;
});

}  // namespace
