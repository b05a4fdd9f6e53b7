// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/nn/scan.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <tuple>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using X = tensor<P<"data", none>, 8, 6>;
using W = tensor<P<none, "model">, 6, 6>;
using B = tensor<P<none>, 6>;
using stacked_w = tensor<P<none, none, "model">, 3, 6, 6>;
using stacked_b = tensor<P<none, none>, 3, 6>;

template <class Weight, class Bias>
struct layer {
  Weight w;
  Bias b;

  constexpr auto operator()(const auto& x) const {
    auto h = reshard<P<"data", none>>(einsum<"bi,io->bo">(x, w));
    return tanh(h + b) + x * 0.5F;
  }
};
template <class Weight, class Bias>
layer(Weight, Bias) -> layer<Weight, Bias>;
using layer_type = layer<W, B>;
constexpr auto apply = [](const auto& h, const auto& each) { return each(h); };
constexpr auto apply_parts = [](const auto& h, const auto& w, const auto& b) {
  return layer{w, b}(h);
};
constexpr auto by_scan = [](const auto& layers, const auto& x) {
  return reshard<P<>>(sum(square(scan(apply, x, layers))));
};
constexpr auto by_stack = [](const auto& parts, const auto& x) {
  return reshard<P<>>(sum(square(scan(apply_parts, x, std::get<0>(parts), std::get<1>(parts)))));
};
constexpr auto written_out = [](const auto& layers, const auto& x) {
  const auto first = layers[0](x);
  const auto second = layers[1](first);
  const auto third = layers[2](second);
  return reshard<P<>>(sum(square(third)));
};

// A carry whose layout has a name, which that of the result of a layer does not have.
struct rows : layout<pod, P<"data", none>> {};
using named_x = sharded_tensor<float, extents<8, 6>, rows>;
constexpr auto contract = [](const auto& h, const auto& w) { return einsum<"bi,io->bo">(h, w); };
constexpr auto contract_all = [](const auto& x, const auto& w) { return scan(contract, x, w); };
using whole_w = tensor<P<none, none, none>, 3, 6, 6>;
static_assert(trace(contract_all, abstract<named_x>(), abstract<whole_w>()).collectives() == 0);

TEST_CASE("a carry may have a named layout") {
  const device_pool pool{pod{}};
  const auto x = iota<named_x>(pool);
  const sharded_tensor w = iota<whole_w>(pool) * 0.01F;
  sharded_tensor one_by_one = x * 1.0F;
  for (const int l : {0, 1, 2})
    one_by_one = contract(one_by_one, squeeze<0>(dynamic_slice<0, 1>(w, l)));
  REQUIRE(to_host(contract_all(x, w)) == to_host(one_by_one));
  const auto slope = gradient([&](const auto& v) { return sum(contract_all(v, w)); });
  const X without_name = x;
  REQUIRE(to_host(slope(x)) == to_host(slope(without_name)));
}

// A carry of several tensors: the result of the layers, and the running sum of its squares.
template <class H, class S>
struct so_far {
  H h;
  S squares;
};
template <class H, class S>
so_far(H, S) -> so_far<H, S>;
using carry_type = so_far<X, scalar<float, pod>>;
constexpr auto add_up = [](const auto& now, const auto& each) {
  auto h = each(now.h);
  auto squares = now.squares + reshard<P<>>(sum(square(h)));
  return so_far{h, squares};
};
constexpr auto by_carry = [](const auto& layers, const auto& start) {
  const auto last = scan(add_up, start, layers);
  return last.squares + reshard<P<>>(sum(last.h));
};
constexpr auto carry_written_out = [](const auto& layers, const auto& start) {
  const auto one = add_up(start, layers[0]);
  const auto two = add_up(one, layers[1]);
  return two.squares + reshard<P<>>(sum(two.h));
};

std::vector<float> read(const auto& x) { return to_host(x).elements(); }
void require_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).margin(1e-5));
}

}  // namespace

TEST_CASE("layers of a list and of stacked tensors give what the layers give one by one") {
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1});
  const stacked_w w = normal<stacked_w>(pool, random_key{2});
  const stacked_b b = normal<stacked_b>(pool, random_key{3});
  const auto part = [&](index_t l) {
    return layer_type{squeeze<0>(dynamic_slice<0, 1>(w, l)), squeeze<0>(dynamic_slice<0, 1>(b, l))};
  };
  const std::vector<layer_type> list{part(0), part(1), part(2)};
  const std::array array{part(0), part(1), part(2)};
  const auto expected = read(written_out(list, x));
  REQUIRE(read(by_scan(list, x)) == expected);
  REQUIRE(read(by_scan(array, x)) == expected);
  REQUIRE(read(by_stack(std::tuple(w, b), x)) == expected);
  // Without layers the carry does not change.
  REQUIRE(read(scan(apply, x * 2.0F, std::vector<layer_type>{})) == read(x * 2.0F));
  // The operands have the same number of layers.
  try {
    (void)scan(apply_parts, x, std::vector{part(0).w}, b);
    FAIL("a list of one weight met three biases");
  } catch (const error& thrown) {
    REQUIRE(thrown.verdict().rule == violation::operand_count_differs);
  }
  // Also within one nest: a missing layer is not replaced by the last one.
  try {
    const auto add_both = [](const auto& h, const auto& parts) {
      return X(h + std::get<0>(parts) + std::get<1>(parts));
    };
    (void)scan(add_both, x, std::tuple(b, ones<tensor<P<none, none>, 2, 6>>(pool)));
    FAIL("three biases met two");
  } catch (const error& thrown) {
    REQUIRE(thrown.verdict().rule == violation::operand_count_differs);
  }
}

TEST_CASE("gradients of a scan are those of the layers") {
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1});
  const stacked_w w = normal<stacked_w>(pool, random_key{2});
  const stacked_b b = normal<stacked_b>(pool, random_key{3});
  std::vector<layer_type> list;
  for (index_t l = 0; l < 3; ++l)
    list.push_back({squeeze<0>(dynamic_slice<0, 1>(w, l)), squeeze<0>(dynamic_slice<0, 1>(b, l))});
  const auto expected = gradient(written_out)(list, x);
  const auto listed = gradient(by_scan)(list, x);
  const auto [dw, db] = gradient(by_stack)(std::tuple(w, b), x);
  for (std::size_t l = 0; l < 3; ++l) {
    const auto number = static_cast<index_t>(l);
    REQUIRE(read(listed[l].w) == read(expected[l].w));
    REQUIRE(read(listed[l].b) == read(expected[l].b));
    require_near(read(dynamic_slice<0, 1>(dw, number)), read(expected[l].w));
    require_near(read(dynamic_slice<0, 1>(db, number)), read(expected[l].b));
  }
}

TEST_CASE("a scan on paper is replayed with the bits of a run") {
  constexpr auto f = [](const auto& x, const auto& w, const auto& b) {
    return scan(apply_parts, x, w, b);
  };
  constexpr auto recorded =
      trace_program(f, abstract<X>(), abstract<stacked_w>(), abstract<stacked_b>());
  STATIC_REQUIRE(recorded.body_count == 1);
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1});
  const stacked_w w = normal<stacked_w>(pool, random_key{2});
  const stacked_b b = normal<stacked_b>(pool, random_key{3});
  const auto replayed = run<float>(prepare<float, std::int64_t>(recorded), x, w, b);
  pool.reset_counters();
  const sharded_tensor y = f(x, w, b);
  REQUIRE(read(replayed) == read(y));
  REQUIRE(pool.counters().collectives() == ledger_of(recorded).collectives());
  REQUIRE(pool.counters().flops() == ledger_of(recorded).flops());
}

// Weights that all steps share, one of them within a call in the body, and one computed from them.
constexpr auto recurrent = [](const auto& w, const auto& shift, const auto& h, const auto& steps) {
  return scan(
      [&](const auto& before, const auto& x) {
        const auto small = w * 0.25F;
        const auto shifted = call([&](const auto& y) { return y + shift; }, x);
        return tanh(reshard<P<"data", none>>(einsum<"bi,io->bo">(before, w)) + shifted) +
               reshard<P<"data", none>>(einsum<"io,bi->bo">(small, before));
      },
      h, steps);
};
using steps_of_x = tensor<P<none, "data", none>, 4, 8, 6>;

TEST_CASE("a scan on paper captures tensors that its body reads, as at run time") {
  const device_pool pool{pod{}};
  const auto w = uniform<W>(pool, random_key{1});
  const auto shift = uniform<B>(pool, random_key{2});
  const auto h = uniform<X>(pool, random_key{3});
  const auto steps = uniform<steps_of_x>(pool, random_key{4});
  constexpr auto program = trace_program<64>(recurrent, abstract<W>(), abstract<B>(), abstract<X>(),
                                             abstract<steps_of_x>());
  constexpr auto cost = ledger_of(program);
  pool.reset_counters();
  const X y = recurrent(w, shift, h, steps);
  sync(y);
  CHECK(pool.counters().flops() == cost.flops());
  CHECK(pool.counters().collectives() == cost.collectives());
  CHECK(pool.counters().bytes_moved() == cost.bytes_moved());
  const auto replayed = run<float>(prepare<float>(program), w, shift, h, steps);
  CHECK(to_host(replayed) == to_host(y));

  constexpr auto loss = [](const auto& a, const auto& b, const auto& c, const auto& d) {
    return reshard<P<>>(sum(square(recurrent(a, b, c, d))));
  };
  constexpr auto slopes = trace_program<512>(gradient<0, 1>(loss), abstract<W>(), abstract<B>(),
                                             abstract<X>(), abstract<steps_of_x>());
  const auto [dw, db] = run<float, float>(prepare<float>(slopes), w, shift, h, steps);
  const auto [want_dw, want_db] = gradient<0, 1>(loss)(w, shift, h, steps);
  CHECK(to_host(dw) == to_host(want_dw));
  CHECK(to_host(db) == to_host(want_db));
}

TEST_CASE("a captured tensor that is an operand of the call too is one input") {
  // The body may overwrite an operand that the caller does not need any more.
  constexpr auto twice = [](const auto& x) {
    const auto y = x * 2.0F;
    return call([&](const auto& a) { return exp(a * 3.0F) + square(y); }, y);
  };
  constexpr auto program = trace_program<64>(twice, abstract<X>());
  const device_pool pool{pod{}};
  const auto x = uniform<X>(pool, random_key{1});
  pool.reset_counters();
  const X y = twice(x);
  sync(y);
  CHECK(pool.counters().flops() == ledger_of(program).flops());
  const auto replayed = run<float>(prepare<float>(program), x);
  CHECK(to_host(replayed) == to_host(y));
  CHECK(program.view().body(0).count == 6);  // an input, a number and four operations
}

TEST_CASE(
    "what a scan captures stays the same in all layers, also if a layer has it as an operand") {
  const device_pool pool{pod{}};
  const auto x = uniform<X>(pool, random_key{1});
  const auto steps = uniform<steps_of_x>(pool, random_key{2});
  // The first carry is captured, and so is the second layer of a list.
  constexpr auto from_first = [](const auto& first, const auto& all) {
    return scan([&](const auto& h, const auto& step) { return tanh(h) * 0.5F + first * step; },
                first, all);
  };
  constexpr auto second_of_list = [](const auto& h, const auto& a, const auto& b) {
    const std::array layers{a, b, a};
    return scan([&](const auto& carry, const auto& w) { return carry * w + square(b); }, h, layers);
  };
  constexpr auto program = trace_program<96>(from_first, abstract<X>(), abstract<steps_of_x>());
  constexpr auto of_list =
      trace_program<96>(second_of_list, abstract<X>(), abstract<X>(), abstract<X>());
  const auto y = uniform<X>(pool, random_key{3}), z = uniform<X>(pool, random_key{4});
  const X want = from_first(x, steps), also = second_of_list(x, y, z);
  CHECK(to_host(run<float>(prepare<float, std::int64_t>(program), x, steps)) == to_host(want));
  CHECK(to_host(run<float>(prepare<float>(of_list), x, y, z)) == to_host(also));
  pool.reset_counters();
  const X again = from_first(x, steps);
  sync(again);
  CHECK(pool.counters().flops() == ledger_of(program).flops());
}

TEST_CASE("a step with a scan is compiled") {
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1});
  const auto make = [&] {
    std::vector<layer_type> list;
    for (std::uint64_t l = 0; l < 3; ++l)
      list.push_back({normal<W>(pool, random_key{l}), normal<B>(pool, random_key{l + 9})});
    return list;
  };
  constexpr auto learn = [](auto& layers, const auto& batch, const auto& rate) {
    const auto [value, slopes] = value_and_grad(by_scan)(std::as_const(layers), batch);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      layers[l].w -= slopes[l].w * rate;
      layers[l].b -= slopes[l].b * rate;
    }
    return value;
  };
  auto list = make(), lazily = make();
  auto train = step(learn);
  const auto rate = full<scalar<float, pod>>(pool, 0.01F);
  for (int i = 0; i < 3; ++i) {
    const auto now = train(list, x, 0.01F);
    REQUIRE(read(now) == read(step(pool, [&] { return learn(lazily, x, rate); })));
    for (std::size_t l = 0; l < 3; ++l) REQUIRE(read(list[l].w) == read(lazily[l].w));
  }
  // Another number of layers compiles another program.
  list.pop_back();
  (void)train(list, x, 0.01F);
  REQUIRE(train.programs() == 2);
}

TEST_CASE("a carry may be several tensors, in an aggregate or a tuple") {
  const device_pool pool{pod{}};
  const auto make = [&](std::uint64_t l) {
    return layer_type{normal<W>(pool, random_key{l}), normal<B>(pool, random_key{l + 9})};
  };
  const std::vector<layer_type> list{make(0), make(1)};
  const carry_type start{normal<X>(pool, random_key{1}), zeros<scalar<float, pod>>(pool)};
  REQUIRE(read(by_carry(list, start)) == read(carry_written_out(list, start)));

  const auto count = [](const auto& now, const auto& each) {
    return std::tuple(each(std::get<0>(now)), std::get<1>(now) + 1.0F);
  };
  const auto [last, number] = scan(count, std::tuple(start.h * 2.0F, start.squares), list);
  REQUIRE(read(last) == read(list[1](list[0](start.h * 2.0F))));
  REQUIRE(read(number) == std::vector<float>{2.0F});

  const auto slopes = gradient(by_carry)(list, start);
  const auto expected = gradient(carry_written_out)(list, start);
  for (std::size_t l = 0; l < 2; ++l) {
    REQUIRE(read(slopes[l].w) == read(expected[l].w));
    REQUIRE(read(slopes[l].b) == read(expected[l].b));
  }
}

TEST_CASE("a carry of several tensors on paper is replayed with the bits of a run") {
  constexpr auto f = [](const auto& x, const auto& s, const auto& w0, const auto& w1,
                        const auto& b) {
    const std::array layers{layer{w0, b}, layer{w1, b}};
    return by_carry(layers, so_far{x, s});
  };
  constexpr auto recorded = trace_program(f, abstract<X>(), abstract<scalar<float, pod>>(),
                                          abstract<W>(), abstract<W>(), abstract<B>());
  STATIC_REQUIRE(recorded.body_count == 1);
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1});
  const auto s = ones<scalar<float, pod>>(pool);
  const W w0 = normal<W>(pool, random_key{2}), w1 = normal<W>(pool, random_key{3});
  const B b = normal<B>(pool, random_key{4});
  const auto replayed = run<float>(prepare<float, std::int64_t>(recorded), x, s, w0, w1, b);
  pool.reset_counters();
  const sharded_tensor y = f(x, s, w0, w1, b);
  REQUIRE(read(replayed) == read(y));
  REQUIRE(pool.counters().collectives() == ledger_of(recorded).collectives());
  REQUIRE(pool.counters().flops() == ledger_of(recorded).flops());
}

TEST_CASE("a number has no layers") {
  const device_pool pool{pod{}};
  const auto add = [](const auto& carry, const auto& layer) { return carry + layer; };
  const any_tensor<float> number = zeros<float>(pool, extents_desc{}, spec_desc{});
  REQUIRE_THROWS_WITH(scan(add, number, number),
                      contains("dimension_is_out_of_range") && contains("one layer after another"));
}
