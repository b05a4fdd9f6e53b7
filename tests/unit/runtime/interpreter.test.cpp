// SPDX-License-Identifier: BSL-1.0
// What is fused at run time; nothing is computed twice or kept longer than needed.
#include "unit/runtime/passes.hpp"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

using namespace passes;

namespace {

/// Counts its calls, each with any number of elements.
struct counted : elementwise_function<"counted_calls"> {
  static inline std::atomic<int> packets{0};
};

/// The number of passes that run when `x` is read.
template <class X>
std::vector<std::string> steps_of(const X& x) {
  tensor_node* const root = x.share().get();
  const lowered_program program = lower({&root, 1});
  std::vector<std::string> words;
  for (std::size_t s = 0; s < program.steps.size(); ++s)
    if (program.steps[s].kind != step_kind::input && program.lives[s].needed)
      words.push_back(std::string(to_text(program.steps[s].kind).data()) + " " +
                      program.steps[s].label.c_str());
  return words;
}
using words = std::vector<std::string>;

}  // namespace

template <>
struct shardwise::kernel<counted> {
  template <class Packet>
  static Packet run(const Packet& x) {
    ++counted::packets;
    return x;
  }
};

TEST_CASE("temporaries of tensors without types fuse, names do not") {
  const device_pool pool{pod{}};
  const any_tensor<float> a = drawn<V<float>>(pool, 7, 1);
  const any_tensor<float> b = drawn<V<float>>(pool, 7, 2);
  const any_tensor<float> fused = relu(a * 2.0F + b) - exp(a);
  REQUIRE(steps_of(fused) == words{"pass * + relu exp -"});
  const any_tensor<float> product = a * 2.0F;
  const any_tensor<float> added = product + b;
  REQUIRE(steps_of(relu(added)) == words{"pass *", "pass +", "pass relu"});
  // A named value stays named when its variable is destroyed: the program decides what fuses.
  const any_tensor<float> reduced = sum(abs(a) * b, over{0});
  REQUIRE(steps_of(reduced) == words{"operation abs * sum"});
  const auto typed = drawn<V<float>>(pool, 7, 3);
  REQUIRE(steps_of(relu(a + typed * 2.0F)) == words{"pass * + relu"});
  // Conversions, comparisons and `where` are part of the pass.
  REQUIRE(steps_of(where(a > b, cast<float>(cast<std::int32_t>(a)), b)).size() == 1);
  REQUIRE(steps_of(where(typed > 0.0F, cast<float>(typed > 1.0F) + 1.0F, typed)).size() == 1);
}

TEST_CASE("a pass of tensors without types reads eight of them at most") {
  const device_pool pool{pod{}};
  std::vector<any_tensor<float>> x;
  for (int i = 0; i < 12; ++i) x.push_back(drawn<V<float>>(pool, 600, i));
  const any_tensor<float> eight = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
  REQUIRE(steps_of(eight).size() == 1);
  const any_tensor<float> nine = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7] + x[8];
  REQUIRE(steps_of(nine) == words{"pass + + + + + + +", "pass +"});
  const any_tensor<float> twelve =
      (x[0] * x[1] + x[2] * x[3] + x[4] * x[5]) * (x[6] * x[7] + x[8] * x[9] + x[10] * x[11]);
  REQUIRE(steps_of(twelve).size() == 2);
  std::vector<std::vector<float>> host;
  for (const any_tensor<float>& each : x) {
    const auto whole = to_host(each);
    host.emplace_back(whole.begin(), whole.end());
  }
  const auto nine_there = to_host(nine);
  const auto twelve_there = to_host(twelve);
  for (std::size_t i = 0; i < 600; ++i) {
    float sum = host[0][i];
    for (std::size_t k = 1; k < 9; ++k) sum += host[k][i];
    REQUIRE(nine_there.elements()[i] == sum);
    const auto pairs = [&](std::size_t k) {
      return host[k][i] * host[k + 1][i] + host[k + 2][i] * host[k + 3][i] +
             host[k + 4][i] * host[k + 5][i];
    };
    REQUIRE(twelve_there.elements()[i] == pairs(0) * pairs(6));
  }
}

TEST_CASE("sizes that are known at run time only decide what fuses, never what comes out") {
  using D = sharded_tensor<float, extents<dyn>, layout<pod, P<none>>>;
  const device_pool pool{pod{}};
  // By its type a dyn extent is not broadcast, so the size 1 differs from another size.
  const D one = full<D>(pool, 2, 1);
  const D many = iota<D>(pool, 600);
  REQUIRE_THROWS_WITH(square(one + 1.0F) * many, contains("operand_sizes_differ"));
  const any_tensor<float> y = square(any_tensor<float>(one) + 1.0F) * any_tensor<float>(many) - one;
  REQUIRE(steps_of(y) == words{"pass + square", "pass * -"});
  const auto there = to_host(y);
  for (index_t i = 0; i < 600; ++i) REQUIRE(there(i) == 9.0F * static_cast<float>(i) - 2.0F);
  REQUIRE(steps_of(sharded_tensor(square(one + 1.0F) * one)).size() == 1);

  // By its type the square is broadcast; by its size of 1 it is not, so it is fused.
  using B = sharded_tensor<float, extents<1, 5>, layout<pod, P<none, none>>>;
  const B b = iota<B>(pool);
  for (index_t rows : {1, 3}) {
    const auto m = drawn<M<float>>(pool, rows, 1);
    const sharded_tensor z = m * square(b + 1.0F) - b;
    REQUIRE(steps_of(z).size() == (rows == 1 ? 1 : 2));
    const sharded_tensor total = sum<1>(m * square(b + 1.0F));
    const auto of_m = to_host(m);
    const auto of_z = to_host(z);
    const auto of_total = to_host(total);
    for (index_t i = 0; i < rows; ++i) {
      float sum = 0;
      for (index_t j = 0; j < 5; ++j) {
        const auto at = static_cast<float>(j);
        const float product = of_m(i, j) * ((at + 1) * (at + 1));
        REQUIRE(of_z(i, j) == product - at);
        sum += product;
      }
      REQUIRE(of_total(i) == Approx(sum));
    }
  }
}

TEST_CASE("an expression that was read by its name is computed once, though it is then moved") {
  const device_pool pool{pod{}};
  const auto a = drawn<V<float>>(pool, 300, 1);
  // Only one of the functions declares how many packets it takes.
  counted::packets = 0;
  sharded_tensor alone = elementwise<counted>(a);
  (void)to_host(alone);
  const int once = counted::packets;
  REQUIRE(once > 0);

  const auto check = [&](const auto& f) {
    counted::packets = 0;
    auto b = elementwise<counted>(a);
    const sharded_tensor used = b * 2.0F;
    const sharded_tensor moved = f(std::move(b));
    sync(pool);
    REQUIRE(counted::packets == once);
    REQUIRE(to_host(used).elements()[0] == 2 * to_host(a).elements()[0]);
    return local(moved, 0).elements()[0];
  };
  const float first = to_host(a).elements()[0];
  REQUIRE(check([](auto&& b) { return std::forward<decltype(b)>(b) + 1.0F; }) == first + 1);
  REQUIRE(check([&](auto&& b) { return relu(std::forward<decltype(b)>(b) - a) - 1.0F; }) == -1);
  REQUIRE(check([](auto&& b) {
            return std::forward<decltype(b)>(b) * std::forward<decltype(b)>(b);
          }) == first * first);
  (void)check([](auto&& b) { return sum(std::forward<decltype(b)>(b)); });
  (void)check([](auto&& b) { return transpose<0>(std::forward<decltype(b)>(b)); });

  // The same for tensors with run-time layouts.
  counted::packets = 0;
  any_tensor<float> b = elementwise<counted>(any_tensor<float>(a));
  const any_tensor<float> used = b * 2.0F;
  const any_tensor<float> moved = std::move(b) + 1.0F;
  sync(pool);
  REQUIRE(counted::packets == once);
}

TEST_CASE("what a pass spells twice is computed once, if it reads the same tensors") {
  const device_pool pool{pod{}};
  const auto a = drawn<V<float>>(pool, 300, 1);
  const auto b = drawn<V<float>>(pool, 300, 1);
  const auto calls_in = [&](const auto& f, const auto&... x) {
    counted::packets = 0;
    const auto y = any_tensor<float>(f(x...));
    const std::string all = bytes(y);
    return std::pair(counted::packets.load(), all);
  };
  const auto once = [](const auto& x, const auto& y) {
    return x * elementwise<counted>(x * 2.0F - y);
  };
  const auto twice = [](const auto& x, const auto& y) {
    return elementwise<counted>(x * 2.0F - y) * (x + 1.0F) - elementwise<counted>(x * 2.0F - y);
  };
  const auto other_number = [](const auto& x, const auto& y) {
    return elementwise<counted>(x * 2.0F - y) * (x + 1.0F) - elementwise<counted>(x * 3.0F - y);
  };
  const auto swapped = [](const auto& x, const auto& y) {
    return elementwise<counted>(x * 2.0F - y) * (x + 1.0F) - elementwise<counted>(y * 2.0F - x);
  };
  const auto reduced = [&](const auto& x, const auto& y) { return sum(twice(x, y)); };
  const auto [expected, _] = calls_in(once, a, b);
  const any_tensor<float> c(a), d(b);
  REQUIRE(expected > 0);
  REQUIRE(calls_in(twice, a, b).first == expected);
  REQUIRE(calls_in(reduced, a, b).first == expected);
  REQUIRE(calls_in(other_number, a, b).first == 2 * expected);
  REQUIRE(calls_in(swapped, a, b).first == 2 * expected);
  // Block by block, the same.
  const int by_block = calls_in(once, c, d).first;
  REQUIRE(calls_in(twice, c, d).first == by_block);
  REQUIRE(calls_in(reduced, c, d).first == by_block);
  REQUIRE(calls_in(other_number, c, d).first == 2 * by_block);
  REQUIRE(calls_in(swapped, c, d).first == 2 * by_block);
  // The bits are those of the two branches when they are computed separately.
  const auto first = elementwise<counted>(a * 2.0F - b),
             second = elementwise<counted>(a * 2.0F - b);
  const bool alike =
      calls_in(twice, a, b).second == bytes(any_tensor<float>(first * (a + 1.0F) - second));
  REQUIRE(alike);
}

TEST_CASE("the epilogue of a product has the peak of its trace, however it is written") {
  using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", none>>>;
  using B = sharded_tensor<float, extents<16, 32>, layout<pod, P<none, none>>>;
  using K = sharded_tensor<float, extents<8, 32>, layout<pod, P<"x", none>>>;
  const device_pool pool{pod{}};
  const A a = ones<A>(pool);
  const B b = ones<B>(pool);
  const K k = ones<K>(pool);
  const auto f = [](const auto& x, const auto& y, const auto& z) {
    auto w = einsum<"ij,jk->ik">(x, y) + z;
    return w;
  };
  constexpr cost_ledger cost = trace(f, abstract<A>(), abstract<B>(), abstract<K>());
  pool.reset_counters();
  {
    auto y = f(a, b, k);
    (void)y.share();
    sync(pool);
    REQUIRE(pool.counters() == cost);
    REQUIRE(to_host(y).elements()[255] == 17.0F);
  }
  pool.reset_counters();
  {
    const any_tensor<float> y = f(any_tensor<float>(a), any_tensor<float>(b), any_tensor<float>(k));
    sync(pool);
    REQUIRE(pool.counters() == cost);
  }
  pool.reset_counters();
  {
    const auto g = [](const auto& x, const auto& y, const auto& z) {
      return sum<1>(relu(einsum<"ij,jk->ik">(x, y) * 2.0F + z) - z);
    };
    const sharded_tensor y = g(a, b, k);
    sync(pool);
    constexpr cost_ledger reduced = trace(g, abstract<A>(), abstract<B>(), abstract<K>());
    REQUIRE(pool.counters() == reduced);
  }
}

TEST_CASE("passes that read what others in the same phase write over") {
  const device_pool pool(pod{}, 2);
  const auto x = drawn<V<float>>(pool, 5000, 1);
  const auto check = [&](const auto& a) {
    auto b = exp(a);
    auto c = b + 1.0F;
    const auto d = reshard<P<none>>(b);
    const auto e = reshard<P<"x">>(d) * c;
    const auto f = e - b;
    return any_tensor<float>(f + c);
  };
  const any_tensor<float> typed = check(x);
  const any_tensor<float> untyped = check(any_tensor<float>(x));
  const std::string expected = bytes(typed);
  const bool alike = bytes(untyped) == expected;
  REQUIRE(alike);
  const auto host = to_host(x);
  const auto there = to_host(typed);
  const auto exps = to_host(exp(x));
  for (index_t i = 0; i < 5000; ++i) {
    const float b = exps(i);
    const float c = b + 1.0F;
    REQUIRE(there(i) == (b * c - b) + c);
  }
}
