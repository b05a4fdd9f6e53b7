// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/kernel.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using M = sharded_tensor<float, extents<8, 8>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<8, 8>, layout<pod, P<none, "model">>>;

/// A hook in a program, where a test may run any function on a device. Hooks differ in their
/// number, so that programs of different threads never share one.
template <int Place>
struct hook {
  static constexpr text_view symbol = "hook";
  static constexpr linearity law = linearity::nonlinear;
  static constexpr int flops = 1;
  static inline std::atomic<bool> armed{false};
  static inline std::function<void()> action;
};

/// Runs `action` in one hook during its lifetime.
template <int Place>
class arm {
 public:
  explicit arm(std::function<void()> action) {
    hook<Place>::action = std::move(action);
    hook<Place>::armed = true;
  }
  arm(const arm&) = delete;
  arm& operator=(const arm&) = delete;
  ~arm() { hook<Place>::armed = false; }
};

[[noreturn]] void give_up() { throw std::runtime_error("broken on purpose"); }

/// Programs with instructions of every kind and hooks between them; `Base` is the number of the
/// first hook.
template <int Base, int I>
auto at(const auto& x) {
  return elementwise<hook<Base + I>>(x);
}
template <int Base>
auto chain(const M& x, const W&) {
  auto y = at<Base, 1>(reshard<P<none, none>>(at<Base, 0>(relu(x) * 2.0F)));
  return sharded_tensor(at<Base, 2>(reshard<P<"data", none>>(y + 1.0F)));
}
template <int Base>
auto product(const M& x, const W& w) {
  const M h = at<Base, 0>(x * 2.0F);
  auto y = at<Base, 1>(relu(einsum<"bi,io->bo">(h, w) + 1.0F));
  return sharded_tensor(at<Base, 2>(reshard<P<"data", none>>(y)) - h);
}
template <int Base>
auto diamond(const M& x, const W&) {
  auto stem = at<Base, 0>(x - 1.0F);
  auto left = reshard<P<none, none>>(stem * 3.0F);
  auto right = at<Base, 1>(reshard<P<none, none>>(stem)) + left;
  return sharded_tensor(at<Base, 2>(right * left));
}
template <int Base>
auto reduced(const M& x, const W&) {
  auto columns = reshard<P<none>>(sum<0>(at<Base, 0>(x) * 2.0F));
  auto wide = reshard<P<none, none>>(at<Base, 1>(x)) - columns;
  return sharded_tensor(at<Base, 2>(wide));
}
template <int Base>
auto untyped(const M& x, const W& w) {
  const any_tensor<float> a = x, b = w;
  const any_tensor<float> y = relu(einsum("bi,io->bo", at<Base, 0>(a), b));
  const any_tensor<float> z = at<Base, 1>(reshard(y, spec_desc{{"", ""}}) * 0.5F);
  return at<Base, 2>(reshard(z, spec_desc{{"data", ""}}));
}

template <class Function>
void for_each_program(const Function& f) {
  f([]<int B>(std::integral_constant<int, B>, const M& x, const W& w) { return chain<B>(x, w); });
  f([]<int B>(std::integral_constant<int, B>, const M& x, const W& w) { return product<B>(x, w); });
  f([]<int B>(std::integral_constant<int, B>, const M& x, const W& w) { return diamond<B>(x, w); });
  f([]<int B>(std::integral_constant<int, B>, const M& x, const W& w) { return reduced<B>(x, w); });
  f([]<int B>(std::integral_constant<int, B>, const M& x, const W& w) { return untyped<B>(x, w); });
}
template <int I>
inline constexpr std::integral_constant<int, I> number{};

M rows(const device_pool& pool) { return iota<M>(pool) * 0.25F - 4.0F; }
W columns(const device_pool& pool) { return iota<W>(pool) * 0.125F - 3.0F; }

std::string words_of(const auto& f) {
  try {
    (void)f();
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
  return "nothing was thrown";
}

void require_no_charge(const device_pool& pool) {
  for (index_t d = 0; d < pool.devices(); ++d) REQUIRE(pool.state()->memory().held(d) == 0);
}

}  // namespace

template <int Place>
struct shardwise::kernel<hook<Place>> {
  template <class Packet>
  static Packet run(const Packet& x) {
    if (hook<Place>::armed) hook<Place>::action();
    return x;
  }
};

TEST_CASE("what a device function throws ends its program, wherever it is, and nothing else") {
  for_each_program([](const auto& program) {
    for_each_index<3>([&]<std::size_t Place>() {
      for (const unsigned threads : {1U, 3U}) {
        const device_pool pool(pod{}, threads);
        {
          const M x = rows(pool);
          const W w = columns(pool);
          const auto expected = to_host(program(number<0>, x, w));
          const M other = x * 3.0F;
          const auto y = program(number<0>, x, w);
          const auto reader = y + 1.0F;
          {
            const arm<static_cast<int>(Place)> broken(give_up);
            REQUIRE_THROWS_AS(to_host(y), device_error);
          }
          // The failed tensor, and tensors that depend on it, throw the same exception again;
          // everything else is computed.
          const std::string words = words_of([&] { return to_host(y); });
          REQUIRE_THAT(words, contains("broken on purpose"));
          REQUIRE(words_of([&] { return to_host(y); }) == words);
          REQUIRE(words_of([&] { return to_host(reader); }) == words);
          REQUIRE(words_of([&] { sync(y); }) == words);
          REQUIRE(to_host(other) == to_host(x * 3.0F));
          REQUIRE(to_host(program(number<0>, x, w)) == expected);
          REQUIRE_NOTHROW(sync(pool));
        }
        require_no_charge(pool);
      }
    });
  });
}

TEST_CASE("a failure inside sync of a pool or of several results leaves the pool as it was") {
  const device_pool pool{pod{}};
  for_each_program([&](const auto& program) {
    for_each_index<3>([&]<std::size_t Place>() {
      const M x = rows(pool);
      const W w = columns(pool);
      const auto expected = to_host(program(number<10>, x, w));
      const auto good = program(number<10>, x, w);
      const auto bad = program(number<0>, x, w);
      const auto dropped = [&] { return program(number<0>, x, w); };
      {
        const arm<static_cast<int>(Place)> broken(give_up);
        REQUIRE_THROWS_AS(sync(bad, good), device_error);
        REQUIRE_THROWS_AS(to_host(dropped()), device_error);
        (void)dropped();
      }
      REQUIRE_NOTHROW(sync(pool));
      REQUIRE(to_host(good) == expected);
      REQUIRE_THROWS_AS(to_host(bad), device_error);
    });
  });
}

TEST_CASE("a failure reaches what reads it inside of a pass, and is told once") {
  const device_pool pool{pod{}};
  const any_tensor<float> x = rows(pool);
  const any_tensor<float> failing = reshard(at<0, 0>(x), spec_desc{{"", ""}});
  const any_tensor<float> y = failing * 2.0F + 1.0F;
  {
    const arm<0> broken(give_up);
    REQUIRE_THROWS_AS(sync(pool), device_error);
  }
  REQUIRE_NOTHROW(sync(pool));
  REQUIRE_THROWS_AS(to_host(y), device_error);
}

TEST_CASE("what has begun to write over what it reads is not computed anew") {
  const device_pool pool(pod{}, 1);
  using I = sharded_tensor<std::int32_t, extents<8, 8>, M::layout_type>;
  const I i = full<I>(pool, 1), j = full<I>(pool, 2);
  const M c = full<M>(pool, 1.0F);
  sync(i, j, c);
  M given_up = rows(pool);
  sync(given_up);
  // By its types the expression has eight tensors; the cast adds two, so the right operand is a
  // pass of its own.
  const auto total = sharded_tensor(
      sum<1>(cast<float>(i + j) + (at<0, 0>(internal::handle_of<M>(std::move(given_up).release())) +
                                   c + c + c + c + c + c)));
  std::string words;
  {
    int calls = 0;
    const arm<0> broken([&] {
      if (++calls > 10) give_up();
    });
    words = words_of([&] { return to_host(total); });
    REQUIRE_THAT(words, contains("broken on purpose"));
  }
  REQUIRE(words_of([&] { return to_host(total); }) == words);
}

TEST_CASE("a pool that is stopped by its own device function ends the program there") {
  for_each_program([](const auto& program) {
    for_each_index<3>([&]<std::size_t Place>() {
      for (const unsigned threads : {1U, 3U}) {
        const device_pool pool(pod{}, threads);
        {
          const M x = rows(pool);
          const W w = columns(pool);
          const M before = x * 3.0F;
          sync(before);
          const auto y = program(number<0>, x, w);
          const arm<static_cast<int>(Place)> stopping([&] { pool.request_stop(); });
          REQUIRE_THROWS_AS(to_host(y), pool_stopped);
          REQUIRE_THROWS_AS(to_host(y), pool_stopped);
          REQUIRE_THROWS_AS(sync(x * 1.0F), pool_stopped);
          REQUIRE(local(before, 0).elements()[1] == -11.25F);
        }
        require_no_charge(pool);
      }
    });
  });
}

TEST_CASE("threads may run programs that sometimes fail beside each other in one pool") {
  const device_pool pool(pod{}, 3);
  const M x = rows(pool);
  const W w = columns(pool);
  sync(x, w);
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for_each_index<4>([&]<std::size_t Thread>() {
      threads.emplace_back([&] {
        constexpr int base = static_cast<int>(Thread) * 10;
        int calls = 0;
        // The mutex of the machine orders the calls of the devices of one program only partly.
        std::atomic<int> fuse{0};
        const auto burn = [&] {
          if (fuse.fetch_sub(1) == 0) give_up();
        };
        const arm<base> first(burn);
        const arm<base + 1> second(burn);
        const arm<base + 2> third(burn);
        for_each_program([&](const auto& program) {
          fuse = -1;
          const auto expected = to_host(program(number<base>, x, w));
          for (int round = 0; round < 12; ++round) {
            fuse = 5 * round;
            const auto y = program(number<base>, x, w);
            try {
              right += to_host(y) == expected ? 1 : 0;
            } catch (const device_error&) {
              fuse = -1;
              const std::string words = words_of([&] { return to_host(y); });
              right += words.find("broken on purpose") != std::string::npos ? 1 : 0;
            }
            ++calls;
          }
        });
        right -= calls;
      });
    });
  }
  REQUIRE(right == 0);
  REQUIRE(to_host(x * 1.0F) == to_host(x));
}

TEST_CASE("a program that fails inside a device function of another pool fails both") {
  const device_pool outer(pod{}, 2);
  const device_pool inner(pod{}, 2);
  for_each_program([&](const auto& program) {
    for_each_index<3>([&]<std::size_t Place>() {
      const M x = rows(outer), u = rows(inner);
      const W w = columns(outer), v = columns(inner);
      sync(x, w);
      sync(u, v);
      const auto expected = to_host(program(number<10>, u, v));
      const arm<static_cast<int>(Place)> nested([&] { (void)to_host(program(number<10>, u, v)); });
      REQUIRE(to_host(program(number<0>, x, w)) == expected);
      const arm<10 + static_cast<int>(Place)> broken(give_up);
      const auto y = program(number<0>, x, w);
      REQUIRE_THROWS_AS(to_host(y), device_error);
      REQUIRE_THAT(words_of([&] { return to_host(y); }), contains("broken on purpose"));
      REQUIRE(to_host(u * 1.0F) == to_host(u));
    });
  });
}

TEST_CASE("a million pending tensors are dropped, alone or by threads that share them") {
  const device_pool pool{pod{}};
  const M x = ones<M>(pool);
  const auto build = [](M from, int length) {
    for (int i = 0; i < length; ++i) from = from + 1.0F;
    return from;
  };
  (void)build(x, 1000000);

  for (int round = 0; round < 20; ++round) {
    // Two chains that read each other's values, and a third one that both read.
    std::optional<M> a = build(x, 3), b = build(x, 3), shared = x;
    for (int i = 0; i < 2000; ++i) {
      shared = *shared * 2.0F;
      const M next = *a + *b * *shared;
      b = *b - *a * *shared;
      a = next;
    }
    std::atomic<int> ready{0};
    const auto drop = [&](std::optional<M>& name) {
      ++ready;
      while (ready < 3) std::this_thread::yield();
      name.reset();
    };
    std::vector<std::jthread> threads;
    for (auto* name : {&a, &b, &shared}) threads.emplace_back([&, name] { drop(*name); });
    threads.clear();
  }
  REQUIRE_NOTHROW(sync(pool));
}

TEST_CASE("a device function looks at its own pool and computes in it only what is there") {
  for (const unsigned threads : {1U, 3U}) {
    const device_pool pool(pod{}, threads);
    const M x = rows(pool);
    const auto there = sharded_tensor(x * 2.0F);
    sync(there);
    const auto pending = sharded_tensor(x * 3.0F);
    const auto run = [&] { return to_host(sharded_tensor(at<0, 0>(x) + 1.0F)); };
    const auto expected = run();
    std::atomic<int> looked{0};
    {
      const arm<0> looking([&] {
        looked += to_host(there)(0, 0) == -8.0F && local(there, 0).elements()[0] == -8.0F;
        looked += pool.counters().peak_bytes_per_device() > 0;
        looked += !explain(pending).empty();
      });
      CHECK(run() == expected);
      CHECK(looked >= 3);
      CHECK(looked % 3 == 0);
    }
    const auto refused = [&](auto&& action) {
      const arm<0> nested(action);
      CHECK_THROWS_AS(run(), device_error);
      CHECK_THAT(words_of(run), contains("device ") && contains("pool_waits_for_itself"));
    };
    refused([&] { (void)to_host(pending); });
    refused([&] { sync(pending); });
    refused([&] { sync(pool); });
    // Through another pool, and through other threads.
    const device_pool other(pod{}, threads);
    const M u = rows(other);
    refused([&] {
      const arm<1> inner([&] { (void)to_host(pending); });
      (void)to_host(at<0, 1>(u));
    });
    CHECK(run() == expected);
    CHECK(to_host(pending) == to_host(x * 3.0F));
  }
}

TEST_CASE("a function of for_each_device computes in its own pool, as any other thread does") {
  for (const unsigned threads : {1U, 3U}) {
    const device_pool pool(pod{}, threads);
    const M x = rows(pool);
    sync(x);  // otherwise it would be a part of the plan below until it is computed
    const auto shared = sharded_tensor(reshard<P<none, none>>(x * 2.0F));
    const auto never_read = sharded_tensor(reshard<P<none, none>>(x * 5.0F));
    const std::string plan = explain(never_read);
    std::atomic<int> held{0};
    pool.for_each_device([&](index_t device) {
      const float number = static_cast<float>(device);
      const auto own = sharded_tensor(reshard<P<none, "model">>(x + number));
      held += to_host(shared)(0, 0) == -8.0F;
      held += to_host(own)(0, 0) == -4.0F + number;
      held += local(shared, device).elements()[0] == -8.0F;
      held += explain(never_read) == plan;
      held += pool.counters().peak_bytes_per_device() > 0;
      // A round inside this one.
      pool.for_each_device([&](index_t) { held += to_host(x * number)(0, 0) == -4.0F * number; });
    });
    CHECK(held == 4 * (5 + 4));
    pool.for_each_device([&](index_t) { sync(pool); });
    CHECK(to_host(never_read)(0, 0) == -20.0F);

    // A round inside a program is a part of it, so its functions are refused.
    const arm<0> nested([&] { pool.for_each_device([&](index_t) { (void)to_host(x * 7.0F); }); });
    CHECK_THAT(words_of([&] { return to_host(sharded_tensor(at<0, 0>(x) + 1.0F)); }),
               contains("device ") && contains("pool_waits_for_itself"));
  }
}

TEST_CASE("pools whose device functions compute in each other end, one of them refused") {
  for (const unsigned threads : {1U, 3U}) {
    const device_pool first(pod{}, threads), second(pod{}, threads);
    const M x = rows(first), u = rows(second);
    sync(x);
    sync(u);
    std::atomic<bool> first_runs{false}, second_runs{false};
    const arm<0> from_first([&] {
      first_runs = true;
      while (!second_runs) std::this_thread::yield();
      (void)to_host(u * 2.0F);
    });
    const arm<1> from_second([&] {
      second_runs = true;
      while (!first_runs) std::this_thread::yield();
      (void)to_host(x * 2.0F);
    });
    std::string words[2];
    {
      const std::jthread one([&] { words[0] = words_of([&] { return to_host(at<0, 0>(x)); }); });
      const std::jthread two([&] { words[1] = words_of([&] { return to_host(at<0, 1>(u)); }); });
    }
    const std::string both = words[0] + words[1];
    CHECK_THAT(both, contains("pool_waits_for_itself"));
    CHECK_THAT(both, contains("nothing was thrown"));
    CHECK(to_host(x * 1.0F) == to_host(u * 1.0F));
  }
}

TEST_CASE("a device function without memory is the device's failure") {
  const device_pool pool(pod{}, 2);
  const M x = rows(pool);
  const arm<0> greedy([] { throw std::bad_alloc(); });
  const auto y = sharded_tensor(at<0, 0>(x) + 1.0F);
  CHECK_THROWS_AS(to_host(y), device_error);
  CHECK_THAT(words_of([&] { return to_host(y); }), contains("device ") && contains("bad_alloc"));
}
