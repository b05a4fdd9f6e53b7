// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/kernel.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using V = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;
using X = sharded_tensor<float, extents<8, 8>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<8, 8>, layout<pod, P<none, "model">>>;

/// Counts the packets that it computes.
struct counted {
  static constexpr text_view symbol = "counted";
  static constexpr linearity law = linearity::nonlinear;
  static constexpr int flops = 1;
  static inline std::atomic<int> packets{0};
};

/// Throws while a flag is set.
struct fragile {
  static constexpr text_view symbol = "fragile";
  static constexpr linearity law = linearity::nonlinear;
  static constexpr int flops = 1;
  static inline std::atomic<bool> breaks{false};
  static inline std::atomic<int> attempts{0};
};

template <class Tensor>
bool computed(const Tensor& x) {
  return x.share()->ready();
}

float first(const auto& x) { return to_host(x).elements()[0]; }

constexpr auto layer = [](const auto& x, const auto& w) {
  const auto h = relu(einsum<"bi,ih->bh">(x, w) + 1.0F) * 2.0F;
  return h * h + 3.0F;
};

}  // namespace

template <>
struct shardwise::kernel<counted> {
  template <class Packet>
  static Packet run(const Packet& x) {
    ++counted::packets;
    return x;
  }
};

template <>
struct shardwise::kernel<fragile> {
  template <class Packet>
  static Packet run(const Packet& x) {
    ++fragile::attempts;
    if (fragile::breaks) throw std::runtime_error("broken");
    return x;
  }
};

TEST_CASE("sync of a pool computes every name in one program, what they share once") {
  const device_pool pool{pod{}};
  const V x = ones<V>(pool);
  const auto shared = elementwise<counted>(x + 1.0F);
  const sharded_tensor a = shared * 3.0F;
  const std::vector<any_tensor<float>> kept{sharded_tensor(shared + a)};
  counted::packets = 0;
  REQUIRE_FALSE(computed(a));
  pool.reset_counters();
  sync(pool);
  const int once = counted::packets;
  REQUIRE(once > 0);
  REQUIRE(computed(a));
  REQUIRE(computed(kept[0]));
  REQUIRE(computed(shared));
  REQUIRE(pool.counters().flops() == 4 * (2 + 1 + 1));

  REQUIRE(first(kept[0]) == 8.0F);
  sync(pool);
  REQUIRE(counted::packets == once);
  REQUIRE(pool.counters().flops() == 4 * (2 + 1 + 1));
}

TEST_CASE("sync of a pool leaves other pools alone, and names that are gone") {
  const device_pool here{pod{}}, there{pod{}};
  const sharded_tensor elsewhere = ones<V>(there) + 1.0F;
  {
    const sharded_tensor gone = elementwise<counted>(ones<V>(here));
    const sharded_tensor reader = gone + 1.0F;
    counted::packets = 0;
  }
  here.reset_counters();
  sync(here);
  REQUIRE(counted::packets == 0);
  REQUIRE(here.counters().flops() == 0);
  REQUIRE_FALSE(computed(elsewhere));
  sync(there);
  REQUIRE(computed(elsewhere));
}

TEST_CASE("a name that is gone is computed only inside what still needs it") {
  const device_pool pool{pod{}};
  std::optional<V> inner = ones<V>(pool) + 1.0F;
  const sharded_tensor outer = *inner * *inner;
  const std::weak_ptr<tensor_node> watched = inner->share();
  inner.reset();
  sync(pool);
  REQUIRE(computed(outer));
  REQUIRE(watched.expired());
  REQUIRE(first(outer) == 4.0F);
}

TEST_CASE("a step costs what its program costs on paper") {
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1});
  const W w = normal<W>(pool, random_key{2});
  constexpr cost_ledger paper = trace(layer, abstract<X>(), abstract<W>());
  pool.reset_counters();
  const auto y = step(pool, [&] { return layer(x, w); });
  REQUIRE(pool.counters() == paper);
  REQUIRE(computed(y));
  REQUIRE(to_host(y) == to_host(layer(x, w)));
}

TEST_CASE("the cost of what is pending in a pool is known before it is computed") {
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1});
  const W w = normal<W>(pool, random_key{2});
  constexpr cost_ledger paper = trace(layer, abstract<X>(), abstract<W>());
  sync(pool);
  pool.reset_counters();
  const sharded_tensor y = layer(x, w);
  REQUIRE(ledger_of(pool) == paper);
  REQUIRE_FALSE(computed(y));
  REQUIRE(pool.counters().flops() == 0);
  sync(pool);
  REQUIRE(pool.counters() == paper);
  REQUIRE(ledger_of(pool) == cost_ledger(pool.mesh()));
}

TEST_CASE("what was pending before a step is not part of it") {
  const device_pool pool{pod{}};
  const sharded_tensor before = ones<V>(pool) + 1.0F;
  index_t at_start = 0;
  const int result = step(pool, [&] {
    REQUIRE(computed(before));
    at_start = pool.counters().flops();
    return 7;
  });
  REQUIRE(result == 7);
  REQUIRE(pool.counters().flops() == at_start);
}

TEST_CASE("expressions that a step returns come back computed, alone and in tuples") {
  const device_pool pool{pod{}};
  const V x = ones<V>(pool);
  const V alone = step(pool, [&] { return x + 1.0F; });
  REQUIRE(computed(alone));
  const auto [plain, more, number] =
      step(pool, [&] { return std::tuple(x * 2.0F, sharded_tensor(x * 3.0F), 4); });
  pool.reset_counters();
  REQUIRE(computed(plain));
  REQUIRE(computed(more));
  REQUIRE(first(plain) + first(more) + static_cast<float>(number) == 9.0F);
  REQUIRE(pool.counters().flops() == 0);
}

TEST_CASE("the end of an inner step is an end like any other") {
  const device_pool pool{pod{}};
  std::optional<V> outer, inner, last;
  step(pool, [&] {
    outer = ones<V>(pool) + 1.0F;
    step(pool, [&] { inner = *outer + 1.0F; });
    REQUIRE(computed(*outer));
    REQUIRE(computed(*inner));
    last = *inner + 1.0F;
    REQUIRE_FALSE(computed(*last));
  });
  REQUIRE(computed(*last));
}

TEST_CASE("a body that throws forces nothing, and what it left can be computed later") {
  const device_pool pool{pod{}};
  std::optional<V> left;
  counted::packets = 0;
  REQUIRE_THROWS_WITH(step(pool,
                           [&] {
                             left = elementwise<counted>(ones<V>(pool)) + 1.0F;
                             throw std::runtime_error("no more data");
                           }),
                      "no more data");
  REQUIRE(counted::packets == 0);
  REQUIRE_FALSE(computed(*left));
  step(pool, [] {});
  REQUIRE(first(*left) == 2.0F);
}

TEST_CASE("the exception of a device reaches the end of the step, once") {
  const device_pool pool{pod{}};
  const V x = ones<V>(pool);
  const V other = x * 2.0F;
  fragile::breaks = true;
  std::optional<V> broken, reader;
  const auto body = [&] {
    broken = elementwise<fragile>(x);
    reader = *broken + 1.0F;
  };
  REQUIRE_THROWS_WITH(step(pool, body), contains("device 0: broken"));
  const int attempts = fragile::attempts;
  const V after = x * 4.0F;
  sync(pool);
  REQUIRE(computed(other));
  REQUIRE(computed(after));
  // Reading a failed tensor, or one that depends on it, throws the exception again; nothing is
  // recomputed.
  fragile::breaks = false;
  REQUIRE_THROWS_AS(to_host(*broken), device_error);
  REQUIRE_THROWS_AS(to_host(*reader), device_error);
  const V late = *reader + 1.0F;
  REQUIRE_THROWS_AS(sync(pool), device_error);
  REQUIRE_THROWS_AS(to_host(late), device_error);
  REQUIRE_NOTHROW(sync(pool));
  REQUIRE(fragile::attempts == attempts);
}

TEST_CASE("memory is charged once, failures or not") {
  const device_pool pool{pod{}};
  fragile::breaks = true;
  {
    const V broken = elementwise<fragile>(ones<V>(pool));
    for (int i = 0; i < 3; ++i) REQUIRE_THROWS_AS(sync(broken), device_error);
  }
  fragile::breaks = false;
  for (index_t d = 0; d < pool.devices(); ++d) REQUIRE(pool.state()->memory().held(d) == 0);
}

TEST_CASE("a stopped pool ends a step with pool_stopped") {
  const device_pool pool{pod{}};
  std::optional<V> y;
  REQUIRE_THROWS_AS(step(pool,
                         [&] {
                           y = ones<V>(pool) + 1.0F;
                           pool.request_stop();
                         }),
                    pool_stopped);
  REQUIRE_NOTHROW(sync(pool));
  REQUIRE_THROWS_AS(to_host(*y), pool_stopped);
}

TEST_CASE("names outlive a pool with work pending") {
  std::optional<V> y;
  {
    const device_pool pool{pod{}};
    y = ones<V>(pool) + 1.0F;
    const V dropped = *y + 1.0F;
  }
  REQUIRE(first(*y) == 2.0F);
}

TEST_CASE("threads may make, drop, read and sync the names of one pool at once") {
  const device_pool pool{pod{}};
  const V x = ones<V>(pool);
  std::atomic<int> right{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto named = x + static_cast<float>(t);
        const V a = named * 2.0F;
        { const V dropped = a + named; }
        const V b = step(pool, [&] { return sharded_tensor(a - named) + a; });
        if (!computed(a) || !computed(b)) continue;
        right += first(b) == 3.0F * static_cast<float>(1 + t) ? 1 : 0;
        if (i % 8 == 0) sync(pool);
      }
    });
  threads.clear();
  REQUIRE(right == 200);
}

TEST_CASE("sync computes the names of a pool while another thread records a function") {
  const device_pool pool{pod{}};
  const V w = ones<V>(pool);
  const V own = w + 2.0F;
  int synced = 0;
  // Called while the arguments have no values and `squares` is a named value that depends on them.
  const auto squares_of = [&](const auto& x) {
    const auto squares = sharded_tensor(x * x);
    const V constant = w + 3.0F;
    std::jthread([&] {
      sync(pool);
      ++synced;
    }).join();
    REQUIRE(computed(own));
    REQUIRE(computed(constant));
    REQUIRE_FALSE(computed(squares));
    return sharded_tensor(squares * constant);
  };
  const auto slope = gradient([&](const auto& x) { return sum(squares_of(x)); })(w);
  REQUIRE(synced == 1);
  REQUIRE(first(slope) == 8.0F);
  auto compiled = step([&](const V& x) { return squares_of(x); });
  REQUIRE(first(compiled(w)) == 4.0F);
  REQUIRE(synced == 2);
  sync(pool);
}

TEST_CASE("a long chain of names is one program, built, dropped and computed") {
  const device_pool pool{pod{}};
  const auto build = [&] {
    V x = zeros<V>(pool);
    for (int i = 0; i < 100000; ++i) x = x + 1.0F;
    return x;
  };
  build();
  pool.reset_counters();
  const V y = step(pool, build);
  REQUIRE(pool.counters().flops() == 4 * 100000);
  REQUIRE(first(y) == 100000.0F);
}
