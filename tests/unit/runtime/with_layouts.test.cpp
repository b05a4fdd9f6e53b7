// SPDX-License-Identifier: BSL-1.0
// A program with propagated layouts and the reshards that they need computes what the program
// without any layouts does, whatever layouts its inputs and its result are given.
#include "property/generated.hpp"
#include "support/catch.hpp"
#include <shardwise/plan/with_layouts.hpp>
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace shardwise;

namespace {

struct square : mesh<axis<"x", 2>, axis<"y", 2>> {};
template <index_t... N>
using whole = sharded_tensor<float, extents<N...>, layout<square, P<((void)N, none)...>>>;
using A = whole<4, 6>;
using B = whole<6, 5>;

constexpr auto two_products = [](const auto& x, const auto& w) {
  const auto h = gelu(einsum<"bi,ih->bh">(x, w) + 0.5F);
  return einsum<"bh,ih->bi">(h, w) - x;
};
/// Sums of results that may all be pending.
constexpr auto sums_of_products = [](const auto& x, const auto& w) {
  return transpose<1, 0>(einsum<"bi,ih->bh">(x, w) - 2 * einsum<"bi,ih->bh">(abs(x), w)) +
         einsum<"hk,kb->hb">(einsum<"ih,ik->hk">(w, w), einsum<"bi,ik->kb">(x, w));
};
constexpr auto rearranged = [](const auto& x, const auto& w) {
  const auto rows = reshape<extents<2, 2, 6>>(x);
  const auto weights = softmax<1>(transpose<1, 0>(w));
  const auto joined = concatenate<0>(reshape<extents<4, 6>>(flip<0>(rows)), weights);
  return slice_in_dim<1, 1, 5>(joined);
};
constexpr auto in_order = [](const auto& x, const auto& w) {
  const auto [largest, place] = max_with_index<1>(cumsum<0>(w));
  const auto sorted = sort<0>(x);
  return sum<0>(sorted) * largest + cast<float>(place) - max<0>(abs(x) + sorted);
};

/// The layouts to begin with, in words: one for each input and one for the result.
struct choice {
  open_layout layouts[3];
};

/// Every stride-th combination of layouts, exact or open, for both inputs and the result.
std::vector<choice> choices(const mesh_desc& mesh, int result_rank, std::size_t stride) {
  std::vector<choice> all;
  const std::vector<layout_desc> two = generated::layouts(mesh, 2, false);
  const std::vector<layout_desc> result = generated::layouts(mesh, result_rank, false);
  std::size_t number = 0;
  for (const layout_desc& x : two)
    for (const layout_desc& w : two)
      for (const layout_desc& r : result) {
        if (number++ % stride != 0) continue;
        choice made{{open_layout::exactly(x), open_layout::exactly(w), open_layout::exactly(r)}};
        if (number % 3 != 0) made.layouts[2] = open_layout::unknown(result_rank);
        if (number % 2 != 0) made.layouts[1].closed = 0;
        all.push_back(made);
      }
  return all;
}

std::vector<float> elements_of(const any_tensor<float>& x) {
  const auto host = to_host(reshard(x, open_layout::unknown(x.tensor().rank()).layout()));
  return {host.elements().begin(), host.elements().end()};
}

/// Runs a program with layouts; its counters are those of its ledger.
template <std::size_t Capacity>
std::vector<float> run_with_layouts(device_pool& pool, const traced_program<Capacity>& program,
                                    const any_tensor<float>& x, const any_tensor<float>& w) {
  const prepared_program ready = prepare<float, std::int32_t>(program);
  const any_tensor<float> x_split = reshard(x, program.values[0].layout);
  const any_tensor<float> w_split = reshard(w, program.values[1].layout);
  sync(x_split, w_split);
  pool.reset_counters();
  const any_tensor<float> made = run<float>(ready, x_split, w_split);
  sync(made);
  const cost_ledger counted = pool.counters();
  const cost_ledger expected = ledger_of(program);
  CHECK(counted.collectives() == expected.collectives());
  CHECK(counted.bytes_moved() == expected.bytes_moved());
  return elements_of(made);
}

template <class F>
void check_all(const F& f, int result_rank, std::size_t stride) {
  const auto program = trace_program<24>(f, abstract<A>(), abstract<B>());
  device_pool pool(square::value);
  const auto x_typed = uniform<A>(pool, random_key{1});
  const auto w_typed = uniform<B>(pool, random_key{2});
  const any_tensor<float> x = x_typed;
  const any_tensor<float> w = w_typed;
  const std::vector<float> wanted =
      elements_of(run<float>(prepare<float, std::int32_t>(program), x, w));
  for (const choice& given : choices(square::value, result_rank, stride)) {
    std::string words[3];
    for (int i = 0; i < 3; ++i) {
      const auto text = to_text(square::value, given.layouts[i]);
      words[i] = std::string(text_view(text).data(), text_view(text).size());
    }
    CAPTURE(words[0], words[1], words[2]);
    const auto found = propagate_layouts(program,
                                         {{known_layout::input, 0, words[0].c_str()},
                                          {known_layout::input, 1, words[1].c_str()},
                                          {known_layout::result, 0, words[2].c_str()}},
                                         {.uneven = true});
    const auto split = with_layouts(found);
    CHECK(split.values[split.results[0]].layout.dims == found.result().dims);
    const std::vector<float> made = run_with_layouts(pool, split, x, w);
    REQUIRE(made.size() == wanted.size());
    for (std::size_t i = 0; i < made.size(); ++i) CHECK(std::abs(made[i] - wanted[i]) < 1e-5F);
  }
}

}  // namespace

TEST_CASE("programs with propagated layouts compute what whole ones do") {
  SECTION("products") { check_all(two_products, 2, 7); }
  SECTION("sums of products") { check_all(sums_of_products, 2, 13); }
  SECTION("rearranged rows") { check_all(rearranged, 2, 11); }
  SECTION("order and reductions") { check_all(in_order, 1, 5); }
}
