// SPDX-License-Identifier: BSL-1.0
// Arguments of compiled steps that share memory, change their sizes, or are numbers.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/values.hpp"
#include <shardwise/nn.hpp>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 4, 2>;
using D = tensor<P<none, none>, dyn, 2>;
using number = scalar<float, pod>;

std::vector<float> eight(float value) { return std::vector<float>(8, value); }

X halved(const X& x) { return x * 0.5F; }
number squares(const X& x) { return reshard<P<>>(sum(square(x))); }

}  // namespace

TEST_CASE("a number of a step that is returned, or kept in an argument, stays as it was") {
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  auto echo = step([](const auto& y, const auto& rate) { return std::tuple(rate, y * rate); });
  const auto [first, twos] = echo(x, 2.0F);
  const auto [second, threes] = echo(x, 3.0F);
  CHECK(values(first) == std::vector<float>{2.0F});
  CHECK(values(second) == std::vector<float>{3.0F});
  CHECK(values(twos) == eight(2.0F));

  auto keep = step([](const auto& rate, auto& last) {
    const number before = last;
    last = rate;
    return before;
  });
  number last = full<number>(pool, 1.0F);
  for (int i = 2; i < 6; ++i) {
    const auto before = keep(static_cast<float>(i), last);
    CHECK(values(before) == std::vector<float>{static_cast<float>(i - 1)});
    CHECK(values(last) == std::vector<float>{static_cast<float>(i)});
  }
}

TEST_CASE("the cost of a compiled step is that of its trace, and known before it runs") {
  const device_pool pool{pod{}};
  constexpr cost_ledger paper =
      trace([](const auto& w, const auto& rate,
               const auto& x) { return std::tuple(reshard<P<>>(sum(x * x)), w - x * rate); },
            donate(abstract<X>()), abstract<number>(), abstract<X>());
  const auto check = [&](auto w, const auto& x) {
    auto train = step([](auto& weights, const auto& rate, const auto& batch) {
      const auto sum_of_squares = sum(batch * batch);
      weights -= batch * rate;
      if constexpr (ValueOperand<decltype(batch * rate)>)
        return reshard(sum_of_squares, spec_desc());
      else
        return reshard<P<>>(sum_of_squares);
    });
    sync(pool);
    pool.reset_counters();
    const cost_ledger cost = train.ledger(w, 0.5F, x);
    CHECK(cost == paper);
    CHECK(train.programs() == 1);
    CHECK(pool.counters().flops() == 0);
    CHECK(values(w) == eight(3.0F));
    CHECK(values(train(w, 0.5F, x)) == std::vector<float>{32.0F});
    CHECK(values(w) == eight(2.0F));
    CHECK(train.programs() == 1);
    CHECK(pool.counters().flops() == cost.flops());
    CHECK(pool.counters().bytes_moved() == cost.bytes_moved());
    CHECK(pool.counters().collectives() == cost.collectives());
  };
  const X x = full<X>(pool, 2.0F), w = full<X>(pool, 3.0F);
  check(w, x);
  check(any_tensor<float>(w), any_tensor<float>(x));
}

TEST_CASE("a variable that a step changes and also reads is two values") {
  const device_pool pool{pod{}};
  auto run = step([](auto& w, const auto& x) {
    w += 1.0F;
    return reshard<P<>>(sum(x));
  });
  X v = ones<X>(pool);
  CHECK(values(run(v, v)) == std::vector<float>{8.0F});
  CHECK(values(v) == eight(2.0F));
  CHECK(values(run(v, v)) == std::vector<float>{16.0F});
  auto later = step([](const auto& x, auto& w) {
    w += 1.0F;
    return reshard<P<>>(sum(x));
  });
  CHECK(values(later(v, v)) == std::vector<float>{24.0F});
  CHECK(values(v) == eight(4.0F));
  // The memory of the variable is shared, and only the variable holds its node.
  X shared = [&] {
    auto same = step([](const auto& x) { return x; });
    return same(v);
  }();
  CHECK(values(run(shared, shared)) == std::vector<float>{32.0F});
  CHECK(values(shared) == eight(5.0F));
  CHECK(values(v) == eight(4.0F));
}

TEST_CASE("a step leaves const members and expressions among its arguments as they are") {
  const device_pool pool{pod{}};
  auto move = step([](auto& both, const auto& by) {
    std::get<1>(both) += std::get<0>(both) * by;
    return reshard<P<>>(sum(std::get<1>(both)));
  });
  std::tuple<const X, X> both{full<X>(pool, 2.0F), ones<X>(pool)};
  CHECK(values(move(both, 2.0F)) == std::vector<float>{40.0F});
  CHECK(values(std::get<0>(both)) == eight(2.0F));
  CHECK(values(std::get<1>(both)) == eight(5.0F));
  const X x = full<X>(pool, 3.0F);
  auto add = step([](const auto& all) { return std::get<0>(all) + std::get<1>(all); });
  CHECK(values(add(std::tuple(x * 2.0F, x))) == eight(9.0F));
}

TEST_CASE("a variable that a step changes in two places is refused") {
  const device_pool pool{pod{}};
  auto both = step([](auto& a, auto& b) {
    a += 1.0F;
    b += 2.0F;
  });
  X v = ones<X>(pool);
  CHECK(refusal([&] {
          both(v, v);
          return 0;
        }) == violation::operand_count_differs);
  CHECK(values(v) == eight(1.0F));
  X w = v;
  both(v, w);
  CHECK(values(v) == eight(2.0F));
  CHECK(values(w) == eight(3.0F));
}

TEST_CASE("an argument whose layout or sizes a step changes has the new ones afterwards") {
  const device_pool pool{pod{}};
  auto grow = step([](auto& x) {
    x = concatenate<0>(x, x + 1.0F);
    return reshard<P<>>(sum(x));
  });
  D d = zeros<D>(pool, 2);
  CHECK(values(grow(d)) == std::vector<float>{4.0F});
  CHECK(d.extents()[0] == 4);
  CHECK(values(d) == std::vector<float>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(values(grow(d)) == std::vector<float>{16.0F});
  CHECK(values(d).size() == 16);
  d = zeros<D>(pool, 2);
  CHECK(values(grow(d)) == std::vector<float>{4.0F});
  CHECK(grow.programs() == 2);

  const X x = iota<X>(pool);
  const layout_desc other =
      tensor<P<none, "model">, 4, 2>(reshard<P<none, "model">>(x)).share()->tensor().layout;
  auto move = step([&](any_tensor<float>& a) { a = reshard(a, other) + 1.0F; });
  any_tensor<float> a = x;
  for (int i = 0; i < 3; ++i) {
    move(a);
    CHECK(a.layout() == other);
    std::vector<float> want;
    for (int k = 0; k < 8; ++k) want.push_back(static_cast<float>(k + i + 1));
    CHECK(values(a) == want);
  }
}

TEST_CASE("a step that would change what is no tensor is refused") {
  struct counted {
    X w;
    int steps = 0;
  };
  struct lists {
    std::vector<X> a, b;
  };
  const device_pool pool{pod{}};
  counted c{ones<X>(pool)};
  auto count = step([](counted& at) {
    at.w += 1.0F;
    ++at.steps;
  });
  CHECK(refusal([&] {
          count(c);
          return 0;
        }) == violation::operand_count_differs);
  CHECK(values(c.w) == eight(1.0F));
  auto assign_all = step([](lists& l) {
    l.b.push_back(l.a.back());
    l.a.pop_back();
  });
  lists l{{ones<X>(pool), ones<X>(pool)}, {zeros<X>(pool)}};
  CHECK(refusal([&] {
          assign_all(l);
          return 0;
        }) == violation::operand_count_differs);
}

TEST_CASE("the arguments and results of a step are in one pool") {
  const device_pool pool{pod{}}, elsewhere{pod{}};
  const X x = ones<X>(pool), y = ones<X>(elsewhere);
  auto apart = step([](const auto& a, const auto& b) { return std::tuple(a + 1.0F, b + 1.0F); });
  CHECK(refusal([&] { return apart(x, y); }) == violation::operand_pools_differ);
  auto other = step([&](const auto& a) { return std::tuple(a + 1.0F, y); });
  CHECK(refusal([&] { return other(x); }) == violation::operand_pools_differ);
  // One step can be used in several pools.
  auto each = step([](const auto& a) { return a + 1.0F; });
  CHECK(values(each(x)) == eight(2.0F));
  CHECK(values(each(y)) == eight(2.0F));
  CHECK(values(each(x)) == eight(2.0F));
  CHECK(each.programs() == 2);
}

TEST_CASE("no gradient leaves out what went through a compiled step") {
  const device_pool pool{pod{}};
  X x = full<X>(pool, 3.0F);
  auto twice = step([](const auto& y) { return y * 2.0F; });
  for (int i = 0; i < 4; ++i) {
    const auto y = twice(x);
    const auto loss = reshard<P<>>(sum(y * x));
    CHECK(refusal([&] { return gradient(loss, x); }) == violation::value_is_computed_already);
    const auto apart = reshard<P<>>(sum(stop_gradient(y) * x));
    CHECK(values(gradient(apart, x)) == eight(6.0F));
  }
  // Values that one step has updated together are independent of each other.
  X w = ones<X>(pool), v = ones<X>(pool);
  auto update = step([](auto& a, auto& b) {
    a = a * 2.0F;
    b = b * 3.0F;
  });
  for (int i = 0; i < 4; ++i) update(w, v);
  CHECK(values(gradient(reshard<P<>>(sum(w * v)), w)) == eight(81.0F));
}

TEST_CASE("a random key is an input of a step, and so are the keys that are derived from it") {
  const device_pool pool{pod{}};
  using Y = tensor<P<"data", "model">, 16, 8>;
  const Y x = ones<Y>(pool);
  const auto twice = [](const auto& y, const auto& seed) {
    return dropout(dropout(y, seed.fold_in(3), 0.5), seed.split(1).fold_in(2), 0.25);
  };
  auto drop = step(twice);
  std::vector<std::vector<float>> seen;
  for (std::uint64_t n = 0; n < 4; ++n) {
    const random_key seed = random_key{7}.fold_in(n);
    seen.push_back(values(drop(x, seed)));
    CHECK(seen.back() == values(Y(twice(x, seed))));
  }
  CHECK(seen[0] != seen[1]);
  CHECK(drop.programs() == 1);

  const any_tensor<float> any = x;
  CHECK(values(drop(any, random_key{9})) == values(Y(twice(x, random_key{9}))));
  auto ignores = step([](const auto& y, const auto&) { return y + 1.0F; });
  CHECK(values(ignores(x, random_key{1})) == std::vector<float>(128, 2.0F));
}

TEST_CASE("a step draws other random numbers with each key, the same on every layout") {
  const device_pool pool{pod{}};
  const auto check = [&]<class T>(std::type_identity<T>) {
    using parts =
        sharded_tensor<T, extents<7, 6>, layout<pod, P<"data", "model">, partial<>, uneven>>;
    using whole = sharded_tensor<T, extents<7, 6>, layout<pod, P<none, none>>>;
    const parts x = zeros<parts>(pool);
    auto noisy = step([](const auto& y, const auto& key) {
      return std::tuple{y + normal_like(y, key), uniform_like(y, key.fold_in(1))};
    });
    for (std::uint64_t n = 0; n < 3; ++n) {
      const random_key key{n};
      const auto [bell, flat] = noisy(x, key);
      CHECK(to_host(bell) == to_host(normal<whole>(pool, key)));
      CHECK(to_host(flat) == to_host(uniform<whole>(pool, key.fold_in(1))));
      const any_tensor<T> any = x;
      CHECK(to_host(normal_like(any, key)) == to_host(bell));
    }
    CHECK(noisy.programs() == 1);
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
  check(std::type_identity<bfloat16>{});
  check(std::type_identity<float16>{});
}

TEST_CASE("16-bit uniform numbers are below 1 and have the mean and the variance of uniform ones") {
  const device_pool pool{pod{}};
  const auto check = [&]<class T>(std::type_identity<T>) {
    using many = sharded_tensor<T, extents<100000>, layout<pod, P<"data">>>;
    double sum = 0, squares = 0, most = 0;
    for (const T each : to_host(uniform<many>(pool, random_key{3})).elements()) {
      const double x = static_cast<float>(each);
      CHECK_FALSE(x < 0);
      most = std::max(most, x);
      sum += x;
      squares += x * x;
    }
    CHECK(most < 1);
    const double mean = sum / 100000;
    CHECK(std::abs(mean - 0.5) < 0.005);
    CHECK(std::abs(squares / 100000 - mean * mean - 1.0 / 12) < 0.002);
  };
  check(std::type_identity<bfloat16>{});
  check(std::type_identity<float16>{});
}

TEST_CASE("training with another key in each step compiles one program") {
  const device_pool pool{pod{}};
  using W = tensor<P<none, "model">, 8, 4>;
  struct model {
    W w;
  };
  const auto loss = [](const auto& m, const auto& x, const auto& seed) {
    return reshard<P<>>(sum(square(einsum<"bi,io->bo">(dropout(x, seed, 0.5), m.w))));
  };
  const optim::training_step learn{loss, optim::sgd{}};
  const auto x = iota<tensor<P<"data", none>, 4, 8>>(pool);
  auto train = step(learn);
  model replayed{ones<W>(pool)}, eager = replayed;
  auto state = optim::sgd{}.start(replayed), other = optim::sgd{}.start(eager);
  for (std::uint64_t n = 0; n < 3; ++n) {
    const random_key seed = random_key{2}.fold_in(n);
    const auto now = train(replayed, state, 1e-5F, x, seed);
    const auto expected =
        step(pool, [&] { return learn(eager, other, full<number>(pool, 1e-5F), x, seed); });
    CHECK(values(now) == values(expected));
  }
  CHECK(values(replayed.w) == values(eager.w));
  CHECK(train.programs() == 1);
}

TEST_CASE("frozen parts of a model are inputs of a step, which leaves them as they are") {
  const device_pool pool{pod{}};
  using W = tensor<P<none, none>, 8, 8>;
  struct model {
    nn::frozen<std::tuple<W, float>> below;
    W above;
  };
  const auto loss = [](const auto& m, const auto& x) {
    const auto h = einsum<"bi,io->bo">(x, std::get<0>(m.below.value));
    return reshard<P<>>(sum(square(einsum<"bi,io->bo">(h, m.above))));
  };
  const optim::training_step learn{loss, optim::sgd{}};
  const auto x = uniform<tensor<P<"data", none>, 4, 8>>(pool, random_key{1});
  auto train = step(learn);
  model replayed{{{uniform<W>(pool, random_key{2}), 1.0F}}, uniform<W>(pool, random_key{3})};
  model eager = replayed;
  auto state = optim::sgd{}.start(replayed), other = optim::sgd{}.start(eager);
  const auto both_agree = [&] {
    const auto now = train(replayed, state, 1e-4F, x);
    const auto expected =
        step(pool, [&] { return learn(eager, other, full<number>(pool, 1e-4F), x); });
    CHECK(values(now) == values(expected));
    CHECK(values(replayed.above) == values(eager.above));
  };
  const std::vector<float> fixed = values(std::get<0>(replayed.below.value));
  for (int i = 0; i < 3; ++i) both_agree();
  CHECK(values(std::get<0>(replayed.below.value)) == fixed);
  // Other frozen weights use the same program.
  std::get<0>(replayed.below.value) = uniform<W>(pool, random_key{4});
  eager.below = replayed.below;
  both_agree();
  CHECK(train.programs() == 1);
}

TEST_CASE("a step that its own function calls is refused, and runs afterwards") {
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  std::function<void(const X&)> inside;
  auto next = step([&](const X& y) {
    if (inside) inside(y);
    return y + 1.0F;
  });
  auto other = step([](const X& y) { return y * 3.0F; });
  inside = [&](const X& y) { (void)next(y); };
  CHECK(refusal([&] { return next(x); }) == violation::value_is_being_differentiated);
  inside = [&](const X&) { (void)next(x); };
  CHECK(refusal([&] { return next(x); }) == violation::value_is_being_differentiated);
  inside = [&](const X& y) { (void)other(y); };
  CHECK(refusal([&] { return next(x); }) == violation::value_is_being_differentiated);
  // A value that does not depend on the arguments is computed immediately.
  inside = [&](const X&) { CHECK(values(other(x)) == eight(3.0F)); };
  CHECK(values(next(x)) == eight(2.0F));
  CHECK(values(next(x)) == eight(2.0F));
  CHECK(next.programs() == 1);
}

TEST_CASE("a step whose function changes a tensor that it captures is refused") {
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  X captured = zeros<X>(pool);
  auto add = step([&](const auto& in) {
    captured = captured + in;
    return sum(in * captured);
  });
  REQUIRE_THROWS_WITH(add(x), Catch::Contains("has changed a tensor that it captures"));
  // The same where the result does not depend on it, and in a function object.
  std::vector<X> log;
  auto keep = step([&](const auto& in) {
    log.push_back(in * 2.0F);
    return sum(in);
  });
  REQUIRE_THROWS_WITH(keep(x), Catch::Contains("pass it as an argument"));
  log.clear();
  struct counter {
    X seen;
    auto operator()(const X& in) {
      seen = seen + in;
      return sum(seen);
    }
  };
  auto count = step(counter{zeros<X>(pool)});
  REQUIRE_THROWS_WITH(count(x), Catch::Contains("pass it as an argument"));

  // What is captured may be read, and local variables of the function be changed.
  const X twos = full<X>(pool, 2.0F);
  auto read = step([&](const auto& in) {
    X local = in * twos;
    for (int i = 0; i < 2; ++i) local += twos;
    return local;
  });
  CHECK(values(read(x)) == eight(6.0F));
  // What is pending outside is no change, and what is held of the result of a call neither.
  const X pending = x * 3.0F;
  const auto first = read(x);
  auto again = step([&](const auto& in) { return in + pending; });
  CHECK(values(again(first)) == eight(9.0F));
  CHECK(values(pending) == eight(3.0F));
}

TEST_CASE("functions are functions of tensors too") {
  const device_pool pool{pod{}};
  const X x = full<X>(pool, 3.0F);
  auto compiled = step(halved);
  CHECK(values(compiled(x)) == eight(1.5F));
  CHECK(values(step(&halved)(x)) == eight(1.5F));
  CHECK(values(gradient(squares)(x)) == eight(6.0F));
  CHECK(values(value_and_grad(&squares)(x).second) == eight(6.0F));
  CHECK(values(vjp(squares, x).second(full<number>(pool, 1.0F))) == eight(6.0F));
  CHECK(values(recompute(halved)(x)) == eight(1.5F));
}

TEST_CASE("a step that another thread is calling is refused, not called at once") {
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  std::atomic<bool> is_called = false, is_over = false;
  std::string refusal;
  auto wait = step([&](const auto& in) {
    is_called = true;
    while (!is_over) std::this_thread::yield();
    return in * 2.0F;
  });
  std::jthread other([&] {
    while (!is_called) std::this_thread::yield();
    try {
      static_cast<void>(wait(x));
    } catch (const std::exception& thrown) {
      refusal = thrown.what();
    }
    is_over = true;
  });
  CHECK(values(wait(x)) == eight(2.0F));
  other.join();
  CHECK_THAT(refusal, Catch::Contains("by another thread"));
  CHECK(values(wait(x)) == eight(2.0F));
}

TEST_CASE("a step that is called while another function is recorded is refused") {
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  auto inner = step([](const auto& y) { return reshard<P<>>(sum(y * y)); });
  auto outer = step([&](const auto& y) { return inner(y) * 2.0F; });
  const auto advice = Catch::Contains("calls the function of the step instead");
  CHECK_THROWS_WITH(outer(x), advice);
  CHECK_THROWS_WITH(gradient([&](const auto& y) { return inner(y); })(x), advice);
  CHECK(values(inner(x)) == std::vector<float>{8.0F});
}

TEST_CASE("a step of an empty list has no pool to run in") {
  auto nothing = step([](auto& list) { (void)list; });
  std::vector<X> empty;
  CHECK_THROWS_WITH(nothing(empty), Catch::Contains("a range of tensors is empty"));
}

TEST_CASE("an argument gets other extents in its own memory") {
  const device_pool pool{pod{}};
  using whole = sharded_tensor<float, extents<4, 6>, layout<pod, P<none, none>>>;
  any_tensor<float> a = iota<whole>(pool);
  auto turn = step([](any_tensor<float>& v) {
    const index_t rows = v.extents()[0];
    v = reshape(v, extents_desc{rows / 2, 48 / rows});
  });
  auto grow = step([](any_tensor<float>& v) { v = reshape(v, extents_desc{24}) + 1.0F; });
  for (int s = 0; s < 2; ++s) {
    turn(a);
    REQUIRE(a.extents() == (s == 0 ? extents_desc{2, 12} : extents_desc{1, 24}));
    const auto host = to_host(a);
    for (index_t i = 0; i < 24; ++i)
      REQUIRE(host.elements()[static_cast<std::size_t>(i)] == static_cast<float>(i));
  }
  grow(a);
  const auto host = to_host(a);
  for (index_t i = 0; i < 24; ++i)
    REQUIRE(host.elements()[static_cast<std::size_t>(i)] == static_cast<float>(i + 1));
}

TEST_CASE("threads divide the rows of steps only where all of them have the same") {
  struct pair : mesh<axis<"x", 2>> {};
  constexpr index_t n = index_t{1} << 16;
  using rows = sharded_tensor<float, extents<3, n>, layout<pair, P<none, none>>>;
  const device_pool pool(pair{}, 2);
  const rows x = normal<rows>(pool, random_key{1});
  auto both = step([](const auto& v) { return exp(reshape<extents<2, 3 * n / 2>>(tanh(v))); });
  const auto wanted = to_host(exp(tanh(x)));
  for (int s = 0; s < 3; ++s) {
    const auto made = to_host(both(x));
    REQUIRE(std::equal(made.begin(), made.end(), wanted.begin()));
  }
}
