// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using V = sharded_tensor<float, extents<8>, layout<pod, P<"data">>>;
using M = sharded_tensor<float, extents<8, 8>, layout<pod, P<"data", none>>>;

/// A user-defined elementwise function, which counts its calls or throws.
struct counted {
  static constexpr text_view symbol = "counted";
  static constexpr linearity law = linearity::nonlinear;
  static constexpr int flops = 1;
  static inline std::atomic<int> packets{0};
};

struct sum_of_three : elementwise_function<"sum_of_three", linearity::additive, 2> {};

float first(const auto& x) { return to_host(x).elements()[0]; }

}  // namespace

template <>
struct shardwise::kernel<sum_of_three> {
  template <class Packet>
  static Packet run(const Packet& x, const Packet& y, const Packet& z) {
    return kernel<functions::add>::run(kernel<functions::add>::run(x, y), z);
  }
};

template <>
struct shardwise::kernel<counted> {
  template <class Packet>
  static Packet run(const Packet& x) {
    ++counted::packets;
    return x;
  }
};

TEST_CASE("a temporary fuses into what reads it, and nothing runs before it is read") {
  const device_pool pool{pod{}};
  const V x = ones<V>(pool);
  counted::packets = 0;
  const sharded_tensor y = elementwise<counted>(x + 1.0F) * 3.0F;
  REQUIRE(counted::packets == 0);
  REQUIRE(y.share()->task()->operands().size() == 1);
  REQUIRE(first(y) == 6.0F);
}

TEST_CASE("a name is computed once, however often it is read and by whatever handle") {
  const device_pool pool{pod{}};
  const V x = ones<V>(pool);
  const auto named = elementwise<counted>(x);
  const auto copy = named;
  counted::packets = 0;
  REQUIRE(first(named + named) == 2.0F);
  const int once = counted::packets;
  REQUIRE(once > 0);
  REQUIRE(first(copy * 5.0F) == 5.0F);
  REQUIRE(first(named) == 1.0F);
  REQUIRE(counted::packets == once);
}

TEST_CASE("an expression owns its operands: auto is always safe") {
  const device_pool pool{pod{}};
  const auto make = [&] {
    const V local_tensor = full<V>(pool, 3.0F);
    const auto square_of = local_tensor * local_tensor;
    return relu(square_of + local_tensor) - 1.0F;
  };
  const auto expression = make();
  REQUIRE(first(expression) == 11.0F);
  std::optional<V> x = ones<V>(pool);
  const auto y = *x + 1.0F;
  x.reset();
  REQUIRE(first(y) == 2.0F);
}

TEST_CASE("a function may forward an expression twice in one call") {
  const device_pool pool{pod{}};
  const auto square_of = []<class E>(E&& x) { return std::forward<E>(x) * std::forward<E>(x); };
  REQUIRE(first(square_of(ones<V>(pool) + 2.0F)) == 9.0F);
  const auto thrice = []<class E>(E&& x) {
    return elementwise<sum_of_three>(std::forward<E>(x), std::forward<E>(x), std::forward<E>(x));
  };
  REQUIRE(first(thrice(ones<V>(pool) + ones<V>(pool))) == 6.0F);
}

TEST_CASE("an expression may be read and given up in one call") {
  const device_pool pool{pod{}};
  const auto last_use = []<class E>(E&& x) { return x * std::forward<E>(x); };
  REQUIRE(first(last_use(ones<V>(pool) + 2.0F)) == 9.0F);
  auto e = ones<V>(pool) + 3.0F;
  REQUIRE(first(std::move(e) * e) == 16.0F);
  REQUIRE_THROWS_WITH(e + 1.0F, contains("expression_was_moved"));
}

TEST_CASE("an expression that was moved from is not read again, and says so") {
  const device_pool pool{pod{}};
  const auto moved = contains("expression_was_moved");
  auto x = ones<V>(pool) + 3.0F;
  const sharded_tensor once = std::move(x);
  REQUIRE_THROWS_WITH(sharded_tensor(std::move(x)), moved);
  REQUIRE_THROWS_WITH(x + 1.0F, moved);
  REQUIRE_THROWS_WITH(to_host(x), moved);
  REQUIRE_THROWS_WITH(once * std::move(x), moved);
  REQUIRE_THROWS_WITH(sum(std::move(x)), moved);
  REQUIRE(first(once) == 4.0F);

  // A named expression that has been read keeps its value.
  auto named = ones<V>(pool) + 3.0F;
  const sharded_tensor one = named * 1.0F;
  const sharded_tensor other = std::move(named);
  REQUIRE(first(one * other) == 16.0F);
}

TEST_CASE("the steps of an expression say what it does, first to last") {
  const device_pool pool{pod{}};
  const V x = ones<V>(pool);
  const sharded_tensor y = relu(x * 2.0F + x) - exp(x);
  tensor_node* const root = y.share().get();
  const lowered_program program = lower({&root, 1});
  const step_desc& step = program.steps.back();
  REQUIRE(text_view(step.label) == "* + relu exp -");
  REQUIRE(step.cost.flops == 4 * 5);
}

TEST_CASE("threads may name, read and compute one expression at once") {
  const device_pool pool{pod{}};
  for (int round = 0; round < 20; ++round) {
    const auto y = exp(ones<V>(pool) * 0.0F) + 1.0F;
    std::vector<std::jthread> readers;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t)
      readers.emplace_back([&] { right += first(y * 2.0F) == 4.0F ? 1 : 0; });
    readers.clear();
    REQUIRE(right == 4);
  }
}

TEST_CASE("tensors outlive their pool, pending or not") {
  std::optional<V> pending;
  {
    const device_pool pool{pod{}};
    pending = ones<V>(pool) + 2.0F;
  }
  REQUIRE(first(*pending) == 3.0F);
}

TEST_CASE("a chain of a hundred thousand pending nodes is built, dropped, and computed") {
  const device_pool pool{pod{}};
  const auto build = [&] {
    V x = zeros<V>(pool);
    for (int i = 0; i < 100000; ++i) x = x + 1.0F;
    return x;
  };
  build();
  REQUIRE(first(build()) == 100000.0F);
}

TEST_CASE("operands of one operation live in one pool") {
  const device_pool a{pod{}};
  const device_pool b{pod{}};
  REQUIRE_THROWS_WITH(ones<V>(a) + ones<V>(b), contains("operand_pools_differ"));
  REQUIRE_THROWS_AS((einsum<"i,i->">(ones<V>(a), ones<V>(b))), error);
}

TEST_CASE("a stopped pool reports it, and again at every later attempt") {
  const device_pool pool{pod{}};
  const sharded_tensor y = ones<V>(pool) + 1.0F;
  pool.request_stop();
  REQUIRE_THROWS_AS(to_host(y), pool_stopped);
  REQUIRE_THROWS_AS(to_host(y), pool_stopped);
}

TEST_CASE("the bits are the same for every number of threads") {
  std::vector<std::vector<float>> results;
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    const device_pool pool(pod{}, threads);
    const M a = normal<M>(pool, random_key{1});
    const M b = normal<M>(pool, random_key{2});
    const auto product = einsum<"ij,ik->jk">(gelu(a), b);
    const auto host = to_host(reshard<P<"data", none>>(product));
    results.emplace_back(host.elements().begin(), host.elements().end());
    REQUIRE(results.back() == results.front());
  }
}

TEST_CASE("the epilogue of a product takes over its memory") {
  const device_pool pool{pod{}};
  const M a = normal<M>(pool, random_key{1});
  pool.reset_counters();
  const index_t held = pool.counters().peak_bytes_per_device();
  const sharded_tensor y = relu(einsum<"ij,kj->ik">(a, reshard<P<none, none>>(a)) + 1.0F);
  sync(y);
  // The gathered operand and the product; the epilogue needs no memory.
  REQUIRE(pool.counters().peak_bytes_per_device() == held + 8 * 8 * 4 + 4 * 8 * 4);
}
