// SPDX-License-Identifier: BSL-1.0
// Compiled steps: what they compute, and that later calls allocate nothing.
#include "support/catch.hpp"
#include "support/owners.hpp"
#include "support/requests.hpp"
#include "support/values.hpp"
#include <shardwise/kernel.hpp>
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <barrier>
#include <bit>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace shardwise;
using support::requests;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 32, 8>;
using Y = tensor<P<"data", none>, 32, 4>;
using model =
    nn::mlp<nn::linear<tensor<P<none, "model">, 8, 16>, tensor<P<"model">, 16>>,
            nn::linear<tensor<P<"model", none>, 16, 4>, tensor<P<none>, 4>, P<"data", none>>>;

constexpr auto loss = [](const auto& m, const auto& x, const auto& wanted) {
  return reshard<P<>>(nn::mse(m(x), wanted));
};

/// Throws while a flag is set.
struct fragile {
  static constexpr text_view symbol = "fragile";
  static constexpr linearity law = linearity::nonlinear;
  static constexpr int flops = 1;
  static inline std::atomic<bool> breaks{false};
};

std::vector<const void*> addresses(const model& m) {
  std::vector<const void*> all;
  const auto read = [&](const auto& x) {
    for (index_t s = 0; s < x.share()->where().count(); ++s)
      all.push_back(x.share()->shard(s).data());
  };
  internal::for_each_tensor(m, read);
  return all;
}

/// The bits of the elements: sums of nothing may be NaN.
std::vector<std::uint32_t> bits_of(const auto& x) {
  std::vector<std::uint32_t> all;
  for (const float each : values(x)) all.push_back(std::bit_cast<std::uint32_t>(each));
  return all;
}

/// Requires that each run of a compiled step has the bits of its function, for other operands too.
template <class... X>
void runs_like(const auto& f, const device_pool& pool) {
  auto compiled = step(f);
  for (std::uint64_t run = 0; run < 4; ++run) {
    const std::tuple x{normal<X>(pool, random_key{run})...};
    REQUIRE(bits_of(std::apply(compiled, x)) == bits_of(sharded_tensor(std::apply(f, x))));
  }
  REQUIRE(compiled.programs() == 1);
}

template <class Optimizer>
void trains_like_lazy_steps(const Optimizer& optimizer, double clip) {
  const optim::training_step<std::remove_const_t<decltype(loss)>, Optimizer> learn{loss, optimizer,
                                                                                   clip};
  const device_pool pool(pod{}, 2);
  const X x = normal<X>(pool, random_key{2});
  const Y y = normal<Y>(pool, random_key{3});
  auto lazy_model = nn::initialise<model>(pool, random_key{1});
  auto lazy_state = learn.optimizer.start(lazy_model);
  auto m = nn::initialise<model>(pool, random_key{1});
  auto state = learn.optimizer.start(m);
  auto train = step(learn);
  for (int i = 0; i < 6; ++i) {
    const float number = 0.1F / static_cast<float>(i + 1);
    const auto rate = full<scalar<float, pod>>(pool, number);
    const auto expected = step(pool, [&] { return learn(lazy_model, lazy_state, rate, x, y); });
    pool.reset_counters();
    const auto now = i % 2 == 0 ? train(m, state, number, x, y) : train(m, state, rate, x, y);
    REQUIRE(values_of_nest<float>(now) == values_of_nest<float>(expected));
    REQUIRE(values_of_nest<float>(m) == values_of_nest<float>(lazy_model));
    REQUIRE(values_of_nest<float>(state) == values_of_nest<float>(lazy_state));
  }
  // One program for numbers, one for tensors of rank 0.
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
    const X x = normal<X>(pool, random_key{2});
    const Y y = normal<Y>(pool, random_key{3});
    auto m = nn::initialise<model>(pool, random_key{1});
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

TEST_CASE("threads that compute the rows of one shard together give its bits") {
  using W = tensor<P<none, none>, 301, 257>;
  using batch = tensor<P<"data", none>, 32, 301>;
  constexpr auto learn = [](W& w, W& momentum, tensor<P<none>, 257>& b, const batch& x) {
    const auto slope = [](const auto& v, const auto& in) {
      return reshard<P<>>(sum(square(einsum<"bi,io->bo">(in, v))));
    };
    momentum = momentum * 0.9F + gradient(slope)(w, x);
    w -= tanh(momentum) * 0.01F + exp(b) * 0.001F;
    b += sum<0>(w) * 0.01F;
  };
  const auto run = [&](unsigned threads) {
    const device_pool pool(pod{}, threads);
    W w = normal<W>(pool, random_key{1});
    W momentum = zeros<W>(pool);
    auto b = zeros<tensor<P<none>, 257>>(pool);
    const batch x = normal<batch>(pool, random_key{2});
    auto train = step(learn);
    for (int i = 0; i < 3; ++i) train(w, momentum, b, x);
    const long begun = requests;
    train(w, momentum, b, x);
    // The peak of temporary memory depends on when threads run.
    if (threads == 1) REQUIRE(requests == begun);
    return values_of_nest<float>(std::tuple(w, momentum, b));
  };
  const std::vector<float> alone = run(1);
  for (const unsigned threads : {2U, 3U, 4U}) REQUIRE(run(threads) == alone);
}

TEST_CASE("somebody who holds an old value keeps it") {
  constexpr auto grow = [](auto& w, const auto& x) {
    w += x;
    return reshard<P<>>(sum(w));
  };
  const device_pool pool{pod{}};
  X w = ones<X>(pool);
  const X x = full<X>(pool, 2.0F);
  auto run = step(grow);
  REQUIRE(values_of_nest<float>(run(w, x)) == std::vector<float>{3.0F * 256});
  const X before = w;
  const sharded_tensor waits = w * 10.0F;
  REQUIRE(values_of_nest<float>(run(w, x)) == std::vector<float>{5.0F * 256});
  REQUIRE(values_of_nest<float>(before)[7] == 3.0F);
  REQUIRE(values_of_nest<float>(waits)[255] == 30.0F);
  REQUIRE(values_of_nest<float>(w)[0] == 5.0F);
  // One tensor as two arguments is two values, and pending arguments are computed first.
  X twice = w * 2.0F;
  REQUIRE(values_of_nest<float>(run(twice, twice)) == std::vector<float>{20.0F * 256});
  REQUIRE(values_of_nest<float>(twice)[3] == 20.0F);
  // Arguments that are not variables are only read.
  auto read = step([](const auto& a, const auto& b) { return reshard<P<>>(sum(a + b)); });
  REQUIRE(values_of_nest<float>(read(std::as_const(w) - 1.0F, x)) ==
          std::vector<float>{6.0F * 256});
  REQUIRE(values_of_nest<float>(w)[0] == 5.0F);
}

TEST_CASE("values that change places, results that are arguments, and constants") {
  struct pair {
    X first, second;
    int factor = 1;
  };
  const device_pool pool{pod{}};
  const X bias = full<X>(pool, 0.5F);
  auto turn = step([&bias](pair& p, const X& x) {
    std::swap(p.first, p.second);
    const X old = p.first;
    p.first += x * static_cast<float>(p.factor) + bias;
    return std::tuple(old, x, std::pair{p.second - 1.0F, 7});
  });
  pair p{full<X>(pool, 1.0F), full<X>(pool, 2.0F)};
  float first = 1, second = 2;
  for (int i = 0; i < 6; ++i) {
    const X x = full<X>(pool, static_cast<float>(i));
    if (i == 4) p.factor = 3;
    std::swap(first, second);
    const auto [old, same, rest] = turn(p, x);
    REQUIRE(values_of_nest<float>(old)[9] == first);
    first += static_cast<float>(i * p.factor) + 0.5F;
    REQUIRE(values_of_nest<float>(same)[1] == static_cast<float>(i));
    REQUIRE(values_of_nest<float>(std::get<0>(rest))[1] == second - 1);
    REQUIRE(std::get<1>(rest) == 7);
    REQUIRE(values_of_nest<float>(p.first) == std::vector<float>(256, first));
    REQUIRE(values_of_nest<float>(p.second) == std::vector<float>(256, second));
  }
  // Another factor compiles another program.
  REQUIRE(turn.programs() == 2);
}

TEST_CASE("operands that a step gathers are gathered in each run, whatever operands follow") {
  const auto side_by_side = [](const auto& x, const auto&... more) {
    return concatenate<1>(x, more...);
  };
  const auto attend = [](const auto& q, const auto& k, const auto& v) {
    return attention(q, k, v);
  };
  // A device has all rows of a whole tensor, and reads those of its portion.
  using portion = tensor<P<cyclic("model"), none>, 8, 3>;
  using whole = tensor<P<none, none>, 8, 2>;
  using nothing = tensor<P<none, none>, 8, 0>;
  using empty_portion = tensor<P<cyclic("model"), none>, 8, 0>;
  for (const unsigned threads : {1U, 2U}) {
    const device_pool pool(pod{}, threads);
    runs_like<portion, whole, nothing>(side_by_side, pool);
    runs_like<whole, nothing, portion>(side_by_side, pool);
    runs_like<nothing, whole, portion>(side_by_side, pool);
    runs_like<whole, empty_portion, nothing, whole>(side_by_side, pool);
    runs_like<portion, nothing>(side_by_side, pool);
    runs_like<tensor<P<none, none, none, none>, 4, 2, 3, 4>,
              tensor<P<cyclic("model"), none, none, none>, 4, 2, 0, 4>,
              tensor<P<none, none, none, none>, 4, 2, 0, 4>>(attend, pool);
  }
}

TEST_CASE("a step that fails before it writes leaves its arguments, and later takes them away") {
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  X w = full<X>(pool, 2.0F), v = full<X>(pool, 3.0F);
  auto early = step([](auto& a, const auto& b) {
    const auto h = reshard<P<none, none>>(elementwise<fragile>(b));
    a += reshard<P<"data", none>>(h);
  });
  early(w, x);
  fragile::breaks = true;
  REQUIRE_THROWS_WITH(early(w, x), Catch::Contains("fragile"));
  REQUIRE(values_of_nest<float>(w)[0] == 3.0F);
  fragile::breaks = false;
  early(w, x);
  REQUIRE(values_of_nest<float>(w)[0] == 4.0F);

  auto late = step([](auto& a, auto& b, const auto& c) {
    a += c;
    const auto whole = reshard<P<none, none>>(a);
    b += reshard<P<"data", none>>(elementwise<fragile>(whole));
  });
  late(w, v, x);
  REQUIRE(values_of_nest<float>(v)[0] == 8.0F);
  fragile::breaks = true;
  REQUIRE_THROWS_WITH(late(w, v, x), Catch::Contains("fragile"));
  fragile::breaks = false;
  REQUIRE_THROWS_WITH(to_host(w), Catch::Contains("fragile"));
  REQUIRE_THROWS_WITH(to_host(w + 1.0F), Catch::Contains("fragile"));
  REQUIRE_THROWS_WITH(to_host(v), Catch::Contains("fragile"));
  REQUIRE_THROWS_WITH(late(w, v, x), Catch::Contains("fragile"));
  REQUIRE(values_of_nest<float>(x)[0] == 1.0F);
  w = ones<X>(pool);
  v = ones<X>(pool);
  late(w, v, x);
  REQUIRE(values_of_nest<float>(v)[0] == 3.0F);
}

TEST_CASE("a step that neither changes nor returns a tensor is refused") {
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  auto nothing = step([](const auto&) {});
  REQUIRE_THROWS_WITH(nothing(x), Catch::Contains("changes tensors of its arguments"));
}

namespace {

// Each kind of collective.
using columns = tensor<P<none, "data">, 32, 8>;
using whole = tensor<P<none, none>, 32, 8>;
constexpr auto move_around = [](X& x, columns& column, whole& all) {
  column += reshard<P<none, "data">>(x);
  all += reshard<P<none, none>>(column);
  const auto terms = einsum<"bi,bj->ij">(x, x);
  const auto total = reshard<P<>>(sum(reshard<P<"data", none>>(terms)));
  x = x * 0.5F + reshard<P<"data", none>>(all) * 0.25F;
  return total;
};

constexpr int warming = 4, steady = 5;

/// Runs two compiled steps in a pool and returns all values afterwards. `before` and `after` are
/// called around the calls that allocate nothing.
template <class Before, class After>
std::vector<float> run_steps(const device_pool& pool, const Before& before, const After& after) {
  const optim::training_step learn{loss, optim::sgd{.momentum = 0.9}};
  X x = normal<X>(pool, random_key{2});
  const Y y = normal<Y>(pool, random_key{3});
  auto column = zeros<columns>(pool);
  auto all = zeros<whole>(pool);
  auto m = nn::initialise<model>(pool, random_key{1});
  auto state = learn.optimizer.start(m);
  sync(pool);
  auto train = step(learn);
  auto move = step(move_around);
  auto now = train(m, state, 0.1F, x, y);
  auto total = move(x, column, all);
  for (int i = 1; i < warming + steady; ++i) {
    if (i == warming) before();
    now = train(m, state, 0.1F / static_cast<float>(i), x, y);
    total = move(x, column, all);
  }
  after();
  std::vector<float> out = values_of_nest<float>(std::tuple(m, x, column, all));
  out.push_back(to_host(now)());
  out.push_back(to_host(total)());
  return out;
}

}  // namespace

TEST_CASE("steady steps allocate nothing where other owners have some devices") {
  const auto ignore = [] {};
  const auto expected = run_steps(device_pool(pod{}, 2), ignore, ignore);
  for (const support::ownership& each : support::ownerships(4)) {
    std::barrier<> gate(device_owners(each.owner_of).count());
    const auto program = [&](const device_pool& pool) {
      struct leave {
        std::barrier<>& gate;
        ~leave() { gate.arrive_and_drop(); }
      } const at_end{gate};
      long begun = 0, taken = 0;
      const auto before = [&] {
        gate.arrive_and_wait();
        begun = requests;
        gate.arrive_and_wait();
      };
      const auto after = [&] {
        gate.arrive_and_wait();
        taken = requests - begun;
        gate.arrive_and_wait();
      };
      if (run_steps(pool, before, after) != expected) throw std::logic_error("other bits");
      if (taken != 0) throw std::logic_error(std::to_string(taken) + " requests");
    };
    // Of small messages, more are in flight than a transport keeps memory for.
    const auto settings = [&](owner_share& share) {
      each.settings(share);
      share.message_bytes = owner_share{}.message_bytes;
    };
    constexpr std::size_t reserved = 4096;
    support::run_all_owners(pod::value, each.owner_of, program, settings, reserved);
  }
}
