// SPDX-License-Identifier: BSL-1.0
// Outputs of the layers of a scan, against loops that are written out.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/nn/scan.hpp>
#include <shardwise/shardwise.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
// Seven rows on two devices, and steps of which the last groups are not full.
using H = tensor<P<"data", none>, 7, 6>;
using W = tensor<P<none, "model">, 6, 6>;
constexpr index_t steps = 11;
using Steps = tensor<P<none, "data", none>, steps, 7, 6>;

constexpr auto cell = [](const auto& h, const auto& x, const auto& w) {
  return tanh(reshard<P<"data", none>>(einsum<"bi,io->bo">(h, w)) + x);
};
constexpr auto recurrent = [](const auto& w, const auto& h, const auto& xs) {
  return scan(
      [&](const auto& before, const auto& x) {
        auto next = cell(before, x, w);
        return scanned{next, next * 2.0F};
      },
      h, xs);
};
// The same as a loop: the last state, and the outputs as a list.
constexpr auto written_out = [](const auto& w, const auto& h, const auto& xs) {
  auto now = h;
  std::vector<H> all;
  for (index_t l = 0; l < steps; ++l) {
    now = cell(now, squeeze<0>(dynamic_slice<0, 1>(xs, l)), w);
    all.push_back(now * 2.0F);
  }
  return std::pair(now, all);
};
// Each output counts differently.
using Weights = tensor<P<none, none, none>, steps, 1, 1>;
constexpr auto loss = [](const auto& w, const auto& h, const auto& xs, const auto& weights) {
  const auto [last, all] = recurrent(w, h, xs);
  return reshard<P<>>(sum(square(all) * weights)) + reshard<P<>>(sum(last));
};
constexpr auto loss_written_out = [](const auto& w, const auto& h, const auto& xs,
                                     const auto& weights) {
  const auto [last, all] = written_out(w, h, xs);
  auto total = reshard<P<>>(sum(last));
  scalar<float, pod> now = total;
  for (index_t l = 0; l < steps; ++l)
    now = now + reshard<P<>>(sum(square(all[static_cast<std::size_t>(l)]) *
                                 squeeze<0>(dynamic_slice<0, 1>(weights, l))));
  return now;
};

constexpr auto backwards = [](const auto& h, const auto& xs) {
  return scan(
      [](const auto& after, const auto& x) {
        auto sum = after * 0.5F + x;
        return scanned{sum, after};
      },
      h, in_reverse, xs);
};
constexpr auto sums = [](const auto& h, const auto& xs) {
  return scan(
             [](const auto& before, const auto& x) {
               auto next = before + x;
               return scanned{next, sum(next)};
             },
             h, xs)
      .second;
};
constexpr auto reduced = [](const auto& h, const auto& xs) {
  return reshard<P<none>>(sums(h, xs));
};

std::vector<float> read(const auto& x) { return to_host(x).elements(); }
std::vector<float> in_a_row(const auto& list) {
  std::vector<float> out;
  for (const auto& x : list)
    for (const float each : read(x)) out.push_back(each);
  return out;
}
void require_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).margin(1e-5));
}

}  // namespace

TEST_CASE("the outputs of a scan are stacked along a new first dimension") {
  const device_pool pool{pod{}};
  const W w = normal<W>(pool, random_key{1});
  const H h = normal<H>(pool, random_key{2});
  const Steps xs = normal<Steps>(pool, random_key{3});
  const auto [last, all] = recurrent(w, h, xs);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(last)>, H>);
  STATIC_REQUIRE(std::is_same_v<decltype(all)::extents_type, Steps::extents_type>);
  STATIC_REQUIRE(decltype(all)::layout_type::value == Steps::layout_type::value);
  const auto [want_last, want] = written_out(w, h, xs);
  CHECK(read(last) == read(want_last));
  CHECK(read(all) == in_a_row(want));
}

TEST_CASE("gradients flow through the outputs of a scan and its carry") {
  const device_pool pool{pod{}};
  const W w = normal<W>(pool, random_key{1});
  const H h = normal<H>(pool, random_key{2});
  const Steps xs = normal<Steps>(pool, random_key{3});
  const Weights weights = uniform<Weights>(pool, random_key{4});
  const auto got = gradient<0, 1, 2>(loss)(w, h, xs, weights);
  const auto want = gradient<0, 1, 2>(loss_written_out)(w, h, xs, weights);
  require_near(read(std::get<0>(got)), read(std::get<0>(want)));
  require_near(read(std::get<1>(got)), read(std::get<1>(want)));
  require_near(read(std::get<2>(got)), read(std::get<2>(want)));
  const auto again = gradient(recompute(loss))(w, h, xs, weights);
  require_near(read(again), read(std::get<0>(want)));
}

TEST_CASE("a scan with outputs on paper has one body, and the counters and bits of a run") {
  constexpr auto outputs = [](const auto& w, const auto& h, const auto& xs) {
    return recurrent(w, h, xs).second;
  };
  constexpr auto program =
      trace_program<96>(outputs, abstract<W>(), abstract<H>(), abstract<Steps>());
  STATIC_REQUIRE(program.body_count == 1);
  // For each step an index in two instructions, a slice, its squeeze, a call and a further result;
  // then two groups of outputs, and their concatenation.
  STATIC_REQUIRE(program.count == 3 + 6 * steps + 3);
  constexpr auto cost = ledger_of(program);
  const device_pool pool{pod{}};
  const W w = normal<W>(pool, random_key{1});
  const H h = normal<H>(pool, random_key{2});
  const Steps xs = normal<Steps>(pool, random_key{3});
  const auto replayed = run<float>(prepare<float, std::int64_t>(program), w, h, xs);
  pool.reset_counters();
  const sharded_tensor all = outputs(w, h, xs);
  CHECK(read(replayed) == read(all));
  CHECK(pool.counters().flops() == cost.flops());
  CHECK(pool.counters().collectives() == cost.collectives());
  CHECK(pool.counters().bytes_moved() == cost.bytes_moved());
  // The stacked outputs, and their groups while they are concatenated.
  constexpr auto output_bytes = index_t{steps} * 4 * 6 * 4;
  STATIC_REQUIRE(cost.peak_bytes_per_device() < 5 * output_bytes);
}

TEST_CASE("outputs are a nest, and layers a list whose length a type does not show") {
  const device_pool pool{pod{}};
  const H h = normal<H>(pool, random_key{2});
  std::vector<W> layers;
  for (std::uint64_t l = 0; l < 70; ++l)
    layers.push_back(normal<W>(pool, random_key{l + 10}) * 0.3F);
  struct seen {
    H before;
    scalar<float, pod> size;
  };
  const auto layer = [](const auto& now, const auto& w) {
    const H next = cell(now, now, w);
    const scalar<float, pod> size = reshard<P<>>(sum(square(next)));
    return scanned{next, std::tuple(seen{now, size}, next)};
  };
  const auto [last, outputs] = scan(layer, h, layers);
  const auto& [both, after] = outputs;
  const auto& [before, sizes] = both;
  using all = std::remove_cvref_t<decltype(before)>;
  STATIC_REQUIRE(std::is_same_v<all::extents_type, extents<dyn, 7, 6>>);
  H now = h;
  std::vector<H> want_before, want_after;
  std::vector<float> want_sizes;
  for (const W& w : layers) {
    want_before.push_back(now);
    now = cell(now, now, w);
    want_after.push_back(now);
    want_sizes.push_back(to_host(reshard<P<>>(sum(square(now))))());
  }
  CHECK(read(last) == read(now));
  CHECK(read(before) == in_a_row(want_before));
  CHECK(read(after) == in_a_row(want_after));
  CHECK(read(sizes) == want_sizes);
  // Nothing to stack has no extents.
  CHECK(refusal([&] { (void)scan(layer, h, std::vector<W>{}); }) ==
        violation::operand_count_differs);
}

TEST_CASE("a scan in reverse begins with the last layer, and its outputs are in order") {
  const device_pool pool{pod{}};
  const H h = normal<H>(pool, random_key{2});
  const Steps xs = normal<Steps>(pool, random_key{3});
  const auto [first, all] = backwards(h, xs);
  std::vector<H> want(steps, h);
  H now = h;
  for (index_t l = steps - 1; l >= 0; --l) {
    want[static_cast<std::size_t>(l)] = now;
    now = now * 0.5F + squeeze<0>(dynamic_slice<0, 1>(xs, l));
  }
  CHECK(read(first) == read(now));
  CHECK(read(all) == in_a_row(want));
  constexpr auto program = trace_program<96>(
      [](const auto& start, const auto& in) { return backwards(start, in).second; }, abstract<H>(),
      abstract<Steps>());
  CHECK(read(run<float>(prepare<float, std::int64_t>(program), h, xs)) == read(all));
}

TEST_CASE("pending outputs stay pending, and are reduced once") {
  constexpr auto cost = trace<96>(reduced, abstract<H>(), abstract<Steps>());
  STATIC_REQUIRE(cost.collectives() == 1);
  const device_pool pool{pod{}};
  const auto h = normal<H>(pool, random_key{2});
  const auto xs = normal<Steps>(pool, random_key{3});
  H now = h;
  std::vector<float> want;
  for (index_t l = 0; l < steps; ++l) {
    now = now + squeeze<0>(dynamic_slice<0, 1>(xs, l));
    want.push_back(to_host(reshard<P<>>(sum(now)))());
  }
  require_near(read(reduced(h, xs)), want);
}

TEST_CASE("tensors with run-time layouts are scanned and stacked") {
  const device_pool pool{pod{}};
  const H h = normal<H>(pool, random_key{2});
  const Steps xs = normal<Steps>(pool, random_key{3});
  const any_tensor<float> any_h = h, any_xs = xs;
  const auto add_up = [](const auto& before, const auto& x) {
    auto next = tanh(before + x);
    return scanned{next, next * 2.0F};
  };
  const auto [last, all] = scan(add_up, any_h, any_xs);
  const auto [want_last, want] = scan(add_up, h, xs);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(all)>, any_tensor<float>>);
  CHECK(to_host(last).elements() == read(want_last));
  CHECK(to_host(all).elements() == read(want));
  CHECK(all.layout() == Steps::layout_type::value);
}

TEST_CASE("a compiled step learns by the outputs of a scan") {
  const device_pool pool{pod{}};
  W w = normal<W>(pool, random_key{1});
  const H h = normal<H>(pool, random_key{2});
  const Steps xs = normal<Steps>(pool, random_key{3});
  const Weights weights = uniform<Weights>(pool, random_key{4});
  auto train = step([](auto& now, const auto& start, const auto& in, const auto& counts) {
    const auto [value, slope] = value_and_grad(loss)(std::as_const(now), start, in, counts);
    now -= slope * 0.001F;
    return value;
  });
  const W before = w;
  const auto first = to_host(train(w, h, xs, weights))();
  CHECK(first == Approx(to_host(loss(before, h, xs, weights))()));
  CHECK(to_host(train(w, h, xs, weights))() < first);
  CHECK(train.programs() == 1);
}
