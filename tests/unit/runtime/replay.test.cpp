// SPDX-License-Identifier: BSL-1.0
// Programs that were recorded on paper run on tensors, any number of times. User-defined kernels
// run beside those of the compiled library; both have the same bits however they are called.
#include "support/catch.hpp"
#include <shardwise/engine/lower.hpp>
#include <shardwise/kernel.hpp>
#include <shardwise/shardwise.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
using W = sharded_tensor<float, extents<4, 6>, layout<pod, P<none, "y">>>;
using I = sharded_tensor<std::int32_t, extents<8, 4>, layout<pod, P<"x", none>>>;
using D = sharded_tensor<double, extents<8, 4>, layout<pod, P<"x", none>>>;

/// User-defined functions: one that is registered, one that throws on request, one that is never
/// registered, and two that have the same name.
struct twice_less_one : elementwise_function<"twice_less_one"> {};
struct fragile : elementwise_function<"fragile_in_replay"> {
  static constexpr bool on_elements = true;
  static inline std::atomic<bool> throws{false};
};
struct never_entered : elementwise_function<"never_entered"> {};
struct one_of_two : elementwise_function<"of_one_name"> {};
struct other_of_two : elementwise_function<"of_one_name"> {};

/// The bits of the elements on every device; the terms of pending sums are not added.
template <class Tensor>
std::vector<std::uint64_t> bits(const Tensor& x) {
  std::vector<std::uint64_t> all;
  for (const auto& shard : shards(x))
    for (auto element : shard.elements()) {
      if constexpr (sizeof(element) == 8)
        all.push_back(std::bit_cast<std::uint64_t>(element));
      else if constexpr (sizeof(element) == 4)
        all.push_back(std::bit_cast<std::uint32_t>(element));
      else
        all.push_back(element);
    }
  return all;
}

/// Returns the rule that a call breaks.
template <class F>
violation refusal(const F& call) {
  try {
    (void)call();
    return violation::nothing;
  } catch (const error& refused) {
    return refused.code();
  }
}

/// A layer with products, collectives, reductions with prologues and products with epilogues.
constexpr auto layer = [](const auto& x, const auto& w) {
  const auto product = einsum<"bi,io->bo">(x, w);
  auto hidden = gelu(product * 0.5F + 1.0F);
  const auto rows = reshard<P<"x">>(sum<1>(hidden * hidden));
  const auto highest = reshard<P<>>(max(exp(x) - 1.0F));
  return std::tuple(std::move(hidden), rows / highest, x > 0.0F);
};

}  // namespace

template <>
struct shardwise::kernel<twice_less_one> {
  template <class Packet>
  static Packet run(const Packet& x) {
    return kernel<functions::subtract>::run(kernel<functions::add>::run(x, x),
                                            all_lanes<Packet>(1));
  }
};
template <>
struct shardwise::kernel<fragile> {
  template <class Result>
  static Result of(Result x) {
    if (fragile::throws) throw std::runtime_error("fragile");
    return x + x;
  }
};
template <>
struct shardwise::kernel<never_entered> : kernel<functions::negate> {};
template <>
struct shardwise::kernel<one_of_two> : kernel<functions::negate> {};
template <>
struct shardwise::kernel<other_of_two> : kernel<functions::abs> {};

static_assert(detail::HasOwnKernel<twice_less_one> && !detail::HasOwnKernel<functions::add>);
static_assert(!detail::HasOwnWholeKernel<slice_operation>);

TEST_CASE("a recorded program gives the bits and layouts of the function, each time it runs") {
  constexpr auto recorded = trace_program(layer, abstract<X>(), abstract<W>());
  const prepared_program ready = prepare<float>(recorded);
  const device_pool pool{pod{}};
  for (std::uint64_t round = 0; round < 3; ++round) {
    const X x = normal<X>(pool, random_key{round});
    const W w = normal<W>(pool, random_key{round + 100});
    const auto [hidden, ratio, positive] = layer(x, w);
    const auto [a, b, c] = run<float, float, bool>(ready, x, w);
    static_assert(std::is_same_v<decltype(c), const any_tensor<bool>>);
    REQUIRE(a.tensor() == desc_of(hidden));
    REQUIRE(b.tensor() == desc_of(ratio));
    REQUIRE(bits(a) == bits(sharded_tensor(hidden)));
    REQUIRE(bits(b) == bits(sharded_tensor(ratio)));
    REQUIRE(bits(c) == bits(sharded_tensor(positive)));
  }
}

TEST_CASE("operations with several results are replayed") {
  constexpr auto f = [](const auto& x) {
    auto [best, at] = max_with_index<1>(x * 2.0F);
    auto [least, where_least] = max_with_index<0>(-reshard<P<none, none>>(x));
    return std::tuple(best + 1.0F, at, where_least * 2);
  };
  const prepared_program ready = prepare<float, std::int64_t>(trace_program(f, abstract<X>()));
  const device_pool pool{pod{}};
  for (std::uint64_t round = 0; round < 2; ++round) {
    const X x = normal<X>(pool, random_key{round});
    const auto [best, at, least] = f(x);
    pool.reset_counters();
    const auto [a, b, c] = run<float, std::int64_t, std::int64_t>(ready, x);
    REQUIRE(pool.counters() == ledger_of(trace_program(f, abstract<X>())));
    REQUIRE(bits(a) == bits(sharded_tensor(best)));
    REQUIRE(bits(b) == bits(at));
    REQUIRE(bits(c) == bits(sharded_tensor(least)));
  }
}

TEST_CASE("a program costs on a pool what it costs on paper") {
  constexpr auto f = [](const auto& x, const auto& w) {
    return reshard<P<"x", none>>(relu(einsum<"bi,io->bo">(x, w) + 1.0F) * 2.0F);
  };
  const prepared_program ready = prepare<float>(trace_program(f, abstract<X>(), abstract<W>()));
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  const W w = ones<W>(pool);
  pool.reset_counters();
  {
    const any_tensor<float> y = run<float>(ready, x, w);
    REQUIRE(to_host(y).elements()[0] == 10.0F);
  }
  REQUIRE(pool.counters() == trace(f, abstract<X>(), abstract<W>()));
}

TEST_CASE("what the inputs were stays as it was, and pending inputs are computed first") {
  constexpr auto f = [](const auto& x) { return relu(-x) * 2.0F; };
  const prepared_program ready = prepare<float>(trace_program(f, abstract<X>()));
  const device_pool pool{pod{}};
  const X ones_of = ones<X>(pool);
  const sharded_tensor pending = ones_of * -3.0F;
  REQUIRE(to_host(run<float>(ready, pending)).elements()[5] == 6.0F);
  REQUIRE(to_host(pending).elements()[5] == -3.0F);
  // An expression without a name, and a tensor with a run-time layout.
  REQUIRE(to_host(run<float>(ready, ones_of - 5.0F)).elements()[0] == 8.0F);
  REQUIRE(to_host(run<float>(ready, any_tensor<float>(pending))).elements()[0] == 6.0F);
}

TEST_CASE("a program may keep its inputs, alone and twice") {
  constexpr auto f = [](const auto& x, const auto& y) { return std::tuple(x, x + y); };
  const prepared_program ready = prepare<float>(trace_program(f, abstract<X>(), abstract<X>()));
  const device_pool pool{pod{}};
  const X x = full<X>(pool, 2);
  const X y = full<X>(pool, 3);
  const auto [same, sum_of] = run<float, float>(ready, x, y);
  REQUIRE(same.share() == x.share());
  REQUIRE(to_host(sum_of).elements()[0] == 5.0F);
  // One tensor as both inputs.
  const auto [again, doubled] = run<float, float>(ready, x, x);
  REQUIRE(to_host(doubled).elements()[31] == 4.0F);
  REQUIRE(to_host(again).elements()[31] == 2.0F);

  // Results are in the order in which the function returns them; one is returned twice.
  constexpr auto turned = [](const auto& a) {
    const auto first = a * 2.0F;
    const auto second = a + 1.0F;
    return std::tuple(second, first, second);
  };
  const prepared_program three = prepare<float>(trace_program(turned, abstract<X>()));
  const auto [one_more, twice, one_more_again] = run<float, float, float>(three, y);
  REQUIRE(to_host(one_more).elements()[0] == 4.0F);
  REQUIRE(to_host(twice).elements()[0] == 6.0F);
  REQUIRE(one_more.share() == one_more_again.share());

  constexpr auto id = [](const auto& a) { return a; };
  const prepared_program nothing = prepare<float>(trace_program(id, abstract<X>()));
  REQUIRE(run<float>(nothing, x).share() == x.share());
}

TEST_CASE("collectives of inputs, alone and one after another") {
  constexpr auto f = [](const auto& x) {
    const auto whole = reshard<P<none, none>>(x);
    return std::tuple(whole, reshard<P<"y", "x">>(whole), transpose<1, 0>(x));
  };
  const prepared_program ready = prepare<float>(trace_program(f, abstract<X>()));
  const device_pool pool{pod{}};
  const X x = iota<X>(pool);
  const auto [whole, tiles, turned] = run<float, float, float>(ready, x);
  const auto [a, b, c] = f(x);
  REQUIRE(bits(whole) == bits(sharded_tensor(a)));
  REQUIRE(bits(tiles) == bits(sharded_tensor(b)));
  REQUIRE(bits(turned) == bits(sharded_tensor(c)));
  REQUIRE(turned.tensor() == desc_of(c));
}

TEST_CASE("inputs of another number, type, layout, shape or pool are refused") {
  constexpr auto f = [](const auto& x, const auto& y) { return x + y; };
  const prepared_program ready = prepare<float>(trace_program(f, abstract<X>(), abstract<X>()));
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  const I whole = ones<I>(pool);
  const W other_shape = ones<W>(pool);
  const any_tensor<float> other_layout = reshard<P<none, none>>(any_tensor<float>(x));
  REQUIRE(refusal([&] { return run<float>(ready, x); }) == violation::operand_count_differs);
  REQUIRE(refusal([&] { return run<float>(ready, x, x, x); }) == violation::operand_count_differs);
  REQUIRE(refusal([&] { return run<float>(ready, x, whole); }) == violation::input_differs);
  REQUIRE(refusal([&] { return run<float>(ready, other_shape, x); }) == violation::input_differs);
  REQUIRE(refusal([&] { return run<float>(ready, x, other_layout); }) == violation::input_differs);
  const device_pool other{pod{}};
  const X far = ones<X>(other);
  REQUIRE(refusal([&] { return run<float>(ready, x, far); }) == violation::operand_pools_differ);
  REQUIRE_THROWS_WITH(run<float>(ready, x, other_layout),
                      contains("input 1") && contains("f32[8@x, 4]"));
  // The program still runs after these errors.
  REQUIRE(to_host(run<float>(ready, x, x)).elements()[0] == 2.0F);
}

TEST_CASE("results of another number or type are refused") {
  constexpr auto f = [](const auto& x) { return std::tuple(x * 2.0F, x > 1.0F); };
  const prepared_program ready = prepare<float>(trace_program(f, abstract<X>()));
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  REQUIRE(refusal([&] { return run<float>(ready, x); }) == violation::result_count_differs);
  REQUIRE(refusal([&] { return run<float, bool, float>(ready, x); }) ==
          violation::result_count_differs);
  REQUIRE(refusal([&] { return run<float, float>(ready, x); }) ==
          violation::result_elements_differ);
  REQUIRE(refusal([&] { return run<float, bool>(ready, x); }) == violation::nothing);
}

TEST_CASE("a program whose kernels are not entered is refused by the name of the operation") {
  constexpr auto f = [](const auto& x) { return elementwise<never_entered>(x) * 2.0F; };
  constexpr auto recorded = trace_program(f, abstract<X>());
  REQUIRE(refusal([&] { return prepare<float>(recorded); }) == violation::operation_has_no_kernel);
  REQUIRE_THROWS_WITH(
      prepare<float>(recorded),
      contains("; never_entered of f32: compile the library with SHARDWISE_ELEMENTS="
               "all, or register a kernel of your own with enter_function"));
}

TEST_CASE("a user's own function is entered and replayed, fused with others") {
  enter_function<twice_less_one, float, float>();
  enter_function<twice_less_one, float, float>();
  constexpr auto f = [](const auto& x) { return exp(elementwise<twice_less_one>(x) * 0.25F) - x; };
  const prepared_program ready = prepare<float>(trace_program(f, abstract<X>()));
  REQUIRE(ready.planned().steps.size() == 2);
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1});
  REQUIRE(bits(run<float>(ready, x)) == bits(sharded_tensor(f(x))));
  // It was not registered for other element types.
  REQUIRE(refusal([&] {
            constexpr auto g = [](const auto& a) { return elementwise<twice_less_one>(a); };
            return prepare<double>(trace_program(g, abstract<D>()));
          }) == violation::operation_has_no_kernel);
}

TEST_CASE("two operations of one name are refused, whichever is asked for") {
  enter_function<one_of_two, float, float>();
  const auto types = types_key(std::array{element::f32}, element::f32);
  const operation& one = operation_of<pointwise<one_of_two>>;
  const operation& other = operation_of<pointwise<other_of_two>>;
  REQUIRE(kernel_table::instance().find(one, types).each.run != nullptr);
  enter_function<other_of_two, float, float>();
  for (const operation* what : {&one, &other}) {
    REQUIRE(refusal([&] { return kernel_table::instance().find(*what, types); }) ==
            violation::operation_is_entered_twice);
    REQUIRE_THROWS_WITH(kernel_table::instance().find(*what, types), contains("of_one_name"));
  }
  constexpr auto f = [](const auto& x) { return elementwise<one_of_two>(x); };
  REQUIRE(refusal([&] { return prepare<float>(trace_program(f, abstract<X>())); }) ==
          violation::operation_is_entered_twice);
}

TEST_CASE("programs of several element types") {
  constexpr auto f = [](const auto& x) {
    const auto whole = cast<std::int32_t>(x * 100.0F);
    const auto narrow = cast<bfloat16>(x) * bfloat16(0.5F);
    return std::tuple(whole * 3 + 1, cast<double>(narrow), sum<0>(cast<double>(x)), narrow,
                      logical_not(whole > 0));
  };
  const prepared_program ready =
      prepare<float, double, std::int32_t, bfloat16>(trace_program(f, abstract<X>()));
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{3});
  const auto [a, b, c, d, e] = run<std::int32_t, double, double, bfloat16, bool>(ready, x);
  const auto [p, q, r, s, t] = f(x);
  REQUIRE(bits(a) == bits(sharded_tensor(p)));
  REQUIRE(bits(b) == bits(sharded_tensor(q)));
  REQUIRE(bits(c) == bits(sharded_tensor(r)));
  REQUIRE(to_host(d).elements()[9].bits() == to_host(sharded_tensor(s)).elements()[9].bits());
  REQUIRE(bits(e) == bits(sharded_tensor(t)));
}

TEST_CASE("several threads run one program at once, on one pool and on their own") {
  const prepared_program ready = prepare<float>(trace_program(layer, abstract<X>(), abstract<W>()));
  const device_pool shared(pod{}, 2);
  const X x = normal<X>(shared, random_key{1});
  const W w = normal<W>(shared, random_key{2});
  const auto expected = bits(std::get<1>(run<float, float, bool>(ready, x, w)));
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const device_pool own(pod{}, 1);
        for (int i = 0; i < 10; ++i) {
          const bool is_own = t % 2 != 0;
          const X a = is_own ? normal<X>(own, random_key{1}) : x;
          const W b = is_own ? normal<W>(own, random_key{2}) : w;
          const auto results = run<float, float, bool>(ready, a, b);
          right += bits(std::get<1>(results)) == expected ? 1 : 0;
        }
      });
  }
  REQUIRE(right == 40);
}

TEST_CASE("a program whose kernel throws leaves the pool and itself usable") {
  enter_function<fragile, float, float>();
  constexpr auto f = [](const auto& x) {
    const auto whole = reshard<P<none, none>>(x * 2.0F);
    const auto risky = elementwise<fragile>(whole);
    return std::tuple(risky + 1.0F, sum<0>(x));
  };
  const prepared_program ready = prepare<float>(trace_program(f, abstract<X>()));
  const device_pool pool{pod{}};
  const X x = ones<X>(pool);
  pool.reset_counters();
  const index_t held = pool.counters().peak_bytes_per_device();
  fragile::throws = true;
  REQUIRE_THROWS_WITH((run<float, float>(ready, x)), contains("fragile"));
  fragile::throws = false;
  // The values that it had computed are freed.
  pool.reset_counters();
  REQUIRE(pool.counters().peak_bytes_per_device() == held);
  REQUIRE(to_host(x + 1.0F).elements()[0] == 2.0F);
  const auto [risky, sums] = run<float, float>(ready, x);
  REQUIRE(to_host(risky).elements()[0] == 5.0F);
  sync(pool);
}

TEST_CASE("results outlive the program, its inputs and the pool") {
  const auto make = [] {
    constexpr auto f = [](const auto& x) { return x * 2.0F; };
    const device_pool pool{pod{}};
    const prepared_program ready = prepare<float>(trace_program(f, abstract<X>()));
    return run<float>(ready, ones<X>(pool));
  };
  REQUIRE(to_host(make()).elements()[31] == 2.0F);
}
