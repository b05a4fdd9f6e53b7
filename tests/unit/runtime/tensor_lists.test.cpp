// SPDX-License-Identifier: BSL-1.0
// Lists of tensors that are concatenated or stacked, against their elements one by one.
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include <shardwise/shardwise.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec, partial<>, uneven>>;
using X = tensor<P<"data", none>, 7, 3>;
using Split = tensor<P<"data", "model">, 7, 3>;

template <class T>
std::vector<T> make(const device_pool& pool, std::size_t count) {
  std::vector<T> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(normal<T>(pool, random_key{i}));
  return list;
}
std::vector<float> read(const auto& x) { return to_host(x).elements(); }
/// The elements of a list of 7 x 3 tensors, stacked along the second dimension, which is the same
/// sequence as if they were concatenated along it.
template <class T>
std::vector<float> in_rows(const std::vector<T>& list) {
  std::vector<std::vector<float>> each;
  for (const T& x : list) each.push_back(read(x));
  std::vector<float> out;
  for (std::size_t i = 0; i < 7; ++i)
    for (const std::vector<float>& x : each)
      for (std::size_t j = 0; j < 3; ++j) out.push_back(x[3 * i + j]);
  return out;
}

constexpr auto ten = [](const auto& x, const auto& y) {
  const std::array list{x, y, x, y, x, y, x, y, x, y};
  return concatenate<1>(list);
};
constexpr auto ten_written_out = [](const auto& x, const auto& y) {
  return concatenate<1>(x, y, x, y, x, y, x, y, x, y);
};
constexpr auto eleven_stacked = [](const auto& x, const auto& y) {
  return stack<1>(x, y, x, y, x, y, x, y, x, y, x);
};
constexpr auto across_model = [](const auto& x, const auto& y) {
  return stack<1>(concatenate<1>(std::array{x, y, x}, across<"model">),
                  concatenate<1>(std::array{y, x, y}, as<P<"data", none>>));
};

}  // namespace

TEST_CASE("a list of any length is concatenated or stacked") {
  const device_pool pool{pod{}};
  for (const std::size_t count : {1UL, 2UL, 8UL, 9UL, 64UL, 65UL, 100UL, 520UL}) {
    const std::vector<X> list = make<X>(pool, count);
    const auto joined = concatenate<1>(list);
    const auto stacked = stack<1>(std::span(list));
    STATIC_REQUIRE(std::is_same_v<decltype(joined)::extents_type, extents<7, dyn>>);
    STATIC_REQUIRE(std::is_same_v<decltype(stacked)::extents_type, extents<7, dyn, 3>>);
    const std::vector<float> want = in_rows(list);
    REQUIRE(read(joined) == want);
    REQUIRE(read(stacked) == want);
  }
  CHECK(refusal([&] { return stack<0>(std::vector<X>{}); }) == violation::operand_count_differs);
  CHECK(refusal([&] { return concatenate<0>(std::vector<any_tensor<float>>{}); }) ==
        violation::operand_count_differs);
}

TEST_CASE("an array has the type and the elements of its tensors as arguments") {
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1}), y = normal<X>(pool, random_key{2});
  const auto joined = ten(x, y);
  STATIC_REQUIRE(std::is_same_v<decltype(joined), const decltype(ten_written_out(x, y))>);
  CHECK(read(joined) == read(ten_written_out(x, y)));
  const auto stacked = stack<2>(std::array{x, y, x});
  STATIC_REQUIRE(std::is_same_v<decltype(stacked), const decltype(stack<2>(x, y, x))>);
  CHECK(read(stacked) == read(stack<2>(x, y, x)));
  // Expressions are computed once.
  const std::array pending{x * 2.0F, y * 2.0F};
  CHECK(read(concatenate<1>(pending)) == read(concatenate<1>(x * 2.0F, y * 2.0F)));
  const auto before = pool.counters().flops();
  CHECK(read(stack<0>(pending)) == read(stack<0>(pending[0], pending[1])));
  CHECK(pool.counters().flops() == before);
}

TEST_CASE("more tensors than an operation takes are stacked") {
  const device_pool pool{pod{}};
  const X x = normal<X>(pool, random_key{1}), y = normal<X>(pool, random_key{2});
  const auto stacked = eleven_stacked(x, y);
  STATIC_REQUIRE(std::is_same_v<decltype(stacked)::extents_type, extents<7, 11, 3>>);
  CHECK(read(stacked) == in_rows(std::vector<X>{x, y, x, y, x, y, x, y, x, y, x}));
  constexpr auto cost = trace(eleven_stacked, abstract<X>(), abstract<X>());
  STATIC_REQUIRE(cost.collectives() == 0);
}

TEST_CASE("lists on paper cost what runs of them do") {
  const device_pool pool{pod{}};
  const Split x = normal<Split>(pool, random_key{1}), y = normal<Split>(pool, random_key{2});
  constexpr auto program = trace_program(across_model, abstract<Split>(), abstract<Split>());
  constexpr auto cost = ledger_of(program);
  pool.reset_counters();
  const sharded_tensor both = across_model(x, y);
  sync(both);
  CHECK(pool.counters() == cost);
  CHECK(read(run<float>(prepare<float>(program), x, y)) == read(both));
  constexpr auto plain = trace_program(ten, abstract<X>(), abstract<X>());
  STATIC_REQUIRE(plain.count == 2 + 2 + 1);
}

TEST_CASE("lists of tensors with run-time layouts are gathered where a call permits it") {
  const device_pool pool{pod{}};
  std::vector<any_tensor<float>> list;
  std::vector<X> whole;
  for (std::size_t i = 0; i < 20; ++i) {
    const X x = normal<X>(pool, random_key{i});
    whole.push_back(x);
    if (i % 3 == 0)
      list.emplace_back(x);
    else
      list.emplace_back(reshard<P<"data", "model">>(x));
  }
  CHECK(refusal([&] { return concatenate<1>(list); }) == violation::dimension_is_split);
  CHECK(read(concatenate<1>(list, across<"model">)) == in_rows(whole));
  CHECK(read(stack<1>(list, across<"model">)) == in_rows(whole));
  const auto laid_out = stack<1>(list, out_sharding(spec_desc{{"", "data", ""}}));
  CHECK(read(laid_out) == in_rows(whole));
  CHECK(refusal([&] { return concatenate<1>(list, across<"modle">); }) ==
        violation::axis_is_not_in_mesh);
  // Sizes are checked when they are known.
  std::vector<any_tensor<float>> others{
      list[0], any_tensor<float>(ones<tensor<P<"data", none>, 5, 3>>(pool))};
  CHECK(refusal([&] { return concatenate<1>(others); }) == violation::operand_sizes_differ);
}

TEST_CASE("gradients of a list are the parts of its cotangent") {
  const device_pool pool{pod{}};
  const std::vector<X> list = make<X>(pool, 20);
  using Weights = tensor<P<"data", none>, 7, 60>;
  const Weights weights = normal<Weights>(pool, random_key{9});
  const auto loss = [](const auto& all, const auto& counts) {
    return reshard<P<>>(sum(concatenate<1>(all) * counts));
  };
  const std::vector<X> slopes = gradient(loss)(list, weights);
  CHECK(in_rows(slopes) == read(weights));
}
