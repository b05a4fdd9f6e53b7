// SPDX-License-Identifier: BSL-1.0
// Steps that are compiled once. This file counts requests for memory, by a global operator new of
// its own, so it is a program of its own.
#include "support/catch.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {
std::atomic<long> requests{0};

void* take(std::size_t bytes, std::size_t alignment) {
  ++requests;
  void* const block = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
constexpr std::size_t plain = alignof(std::max_align_t);
}  // namespace

void* operator new(std::size_t n) { return take(n, plain); }
void* operator new[](std::size_t n) { return take(n, plain); }
void* operator new(std::size_t n, std::align_val_t a) {
  return take(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return take(n, static_cast<std::size_t>(a));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 32, 8>;
using Y = tensor<P<"data", none>, 32, 4>;
using model = nn::mlp<nn::linear<tensor<P<none, "model">, 8, 16>, tensor<P<"model">, 16>>,
                      nn::linear<tensor<P<"model", none>, 16, 4>, tensor<P<none>, 4>,
                                 P<"data", none>>>;

constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::mse(m(x), wanted));
};

/// Throws while it is told to.
struct fragile {
  static constexpr text_view symbol = "fragile";
  static constexpr linearity law = linearity::nonlinear;
  static constexpr int flops = 1;
  static inline std::atomic<bool> breaks{false};
};

template <class Nest>
std::vector<float> values(const Nest& nest) {
  std::vector<float> all;
  const auto read = [&](const auto& x) {
    const auto host = to_host(x);
    all.insert(all.end(), host.elements().begin(), host.elements().end());
  };
  detail::for_each_tensor(nest, read);
  return all;
}
std::vector<const void*> addresses(const model& m) {
  std::vector<const void*> all;
  const auto read = [&](const auto& x) {
    for (index_t s = 0; s < x.share()->where().count(); ++s)
      all.push_back(x.share()->shard(s).data());
  };
  detail::for_each_tensor(m, read);
  return all;
}

template <class Optimizer>
void trains_like_lazy_steps(const Optimizer& optimizer, double clip) {
  const optim::training_step<std::remove_const_t<decltype(loss)>, Optimizer> learn{
      loss, optimizer, clip};
  const device_pool pool(pod{}, 2);
  const X x = normal<X>(pool, key{2});
  const Y y = normal<Y>(pool, key{3});
  auto lazy_model = nn::initialise<model>(pool, key{1});
  auto lazy_state = learn.optimizer.start(lazy_model);
  auto m = nn::initialise<model>(pool, key{1});
  auto state = learn.optimizer.start(m);
  auto train = step(learn);
  for (int i = 0; i < 6; ++i) {
    const float number = 0.1F / static_cast<float>(i + 1);
    const auto rate = full<scalar<float, pod>>(pool, number);
    const auto expected = step(pool, [&] { return learn(lazy_model, lazy_state, rate, x, y); });
    pool.reset_counters();
    const auto now = i % 2 == 0 ? train(m, state, number, x, y) : train(m, state, rate, x, y);
    REQUIRE(values(now) == values(expected));
    REQUIRE(values(m) == values(lazy_model));
    REQUIRE(values(state) == values(lazy_state));
  }
  // One for numbers, one for tensors of rank 0.
  REQUIRE(train.programs() == 2);
}

}  // namespace

template <>
struct shardwise::kernel<fragile> {
  template <class Packet>
  static Packet run(const Packet& x) {
    if (fragile::breaks) throw std::runtime_error("fragile");
    return x;
  }
};

TEST_CASE("a compiled step has the bits of lazy ones") {
  trains_like_lazy_steps(optim::sgd{.momentum = 0.9}, 0.0);
  trains_like_lazy_steps(optim::adamw{.weight_decay = 0.01}, 1.0);
}

TEST_CASE("steady steps allocate nothing, and write over the model in place") {
  const optim::training_step learn{loss, optim::sgd{.momentum = 0.9}};
  for (const unsigned threads : {1U, 2U}) {
    const device_pool pool(pod{}, threads);
    const X x = normal<X>(pool, key{2});
    const Y y = normal<Y>(pool, key{3});
    auto m = nn::initialise<model>(pool, key{1});
    auto state = learn.optimizer.start(m);
    sync(pool);
    auto train = step(learn);
    auto now = train(m, state, 0.1F, x, y);
    now = train(m, state, 0.1F, x, y);
    const std::vector<const void*> before = addresses(m);
    const index_t asked = pool.state()->storage().system_allocations();
    const index_t held = pool.state()->storage().allocated_bytes();
    std::set<const void*> of_losses;
    of_losses.insert(nullptr);
    std::vector<long> counted(11);
    std::vector<const void*> places(11);
    for (std::size_t i = 3; i <= 10; ++i) {
      const long begun = requests;
      now = train(m, state, 0.1F / static_cast<float>(i), x, y);
      counted[i] = requests - begun;
      places[i] = now.share()->shard(0).data();
    }
    for (std::size_t i = 3; i <= 10; ++i) REQUIRE(counted[i] == 0);
    REQUIRE(addresses(m) == before);
    for (std::size_t i = 5; i <= 10; ++i) REQUIRE(places[i] == places[i - 2]);
    REQUIRE(pool.state()->storage().system_allocations() == asked);
    REQUIRE(pool.state()->storage().allocated_bytes() == held);
  }
}
