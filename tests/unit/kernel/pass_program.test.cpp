// SPDX-License-Identifier: BSL-1.0
// Interpreted passes: what they compute once, and the bits of their functions one by one.
#include "shardwise/kernel/pass_program.hpp"

#include "shardwise/kernel/block_functions.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace shardwise;

namespace {

namespace f = functions;

template <class F, class T, std::size_t N>
constexpr block_function function = detail::uniform_function<F, T, N>();

/// The functions that passes are drawn from; the last two are in no chain.
template <class T>
std::vector<block_function> unary() {
  std::vector<block_function> all{function<f::negate, T, 1>, function<f::abs, T, 1>,
                                  function<f::square, T, 1>, function<f::relu, T, 1>};
  if constexpr (std::floating_point<T>) all.push_back(function<f::tanh, T, 1>);
  return all;
}
template <class T>
std::vector<block_function> binary() {
  return {function<f::add, T, 2>,     function<f::subtract, T, 2>, function<f::multiply, T, 2>,
          function<f::divide, T, 2>,  function<f::maximum, T, 2>,  function<f::minimum, T, 2>,
          function<f::greater, T, 2>, function<f::less, T, 2>};
}

template <class T>
bool same_bits(const T& a, const T& b) {
  // Which of two NaNs a function passes on is left open.
  if constexpr (std::floating_point<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
std::vector<T> numbers(index_t n, std::mt19937& random) {
  using limits = std::numeric_limits<T>;
  std::vector<T> all(static_cast<std::size_t>(n));
  for (T& each : all) {
    each = static_cast<T>(static_cast<int>(random() % 65)) / T{8} - T{4};
    if (random() % 16 == 0) each = std::floating_point<T> ? -T{} : limits::min();
    if constexpr (limits::has_infinity)
      if (random() % 16 == 0)
        each = std::vector<T>{limits::quiet_NaN(), limits::denorm_min(),
                              limits::infinity()}[random() % 3];
  }
  return all;
}

/// A pass of random functions over three blocks and two numbers, each value beside that which one
/// function by itself gives.
template <class T>
struct random_pass {
  static constexpr int leaves = 3;
  pass_program pass;
  std::vector<int> slots;
  std::vector<std::vector<T>> values;

  random_pass(index_t n, int calls, std::mt19937& random) {
    for (int k = 0; k < leaves; ++k) {
      slots.push_back(pass.read(element_kernels_of<T>));
      values.push_back(numbers<T>(n, random));
      // One element, repeated.
      if (k == 2 && n > 0) std::fill(values[2].begin(), values[2].end(), values[2][0]);
    }
    for (const T number : {T{3}, T{-2}}) {
      slots.push_back(pass.number(number));
      values.emplace_back(static_cast<std::size_t>(n), number);
    }
    for (int i = 0; i < calls; ++i) {
      const bool is_unary = random() % 3 == 0;
      const auto all = is_unary ? unary<T>() : binary<T>();
      const block_function one = all[random() % all.size()];
      // The newest values most often, so that functions follow each other.
      const auto pick = [&] {
        const std::size_t size = slots.size();
        return random() % 2 == 0 ? size - 1 - random() % std::min<std::size_t>(size, 2)
                                 : random() % size;
      };
      const std::size_t from[2]{i + 1 == calls ? slots.size() - 1 : pick(), pick()};
      const int operands[2]{slots[from[0]], slots[from[1]]};
      slots.push_back(pass.apply(one, {operands, is_unary ? 1U : 2U}, element_of<T>));
      std::vector<T> result(static_cast<std::size_t>(n));
      const void* const at[2]{values[from[0]].data(), values[from[1]].data()};
      const index_t moves[2]{1, 1};
      if (n > 0) one.run(at, moves, result.data(), n);
      values.push_back(std::move(result));
    }
    pass.write(element_kernels_of<T>);
  }

  /// Runs the pass, and into its first block if that is asked.
  [[nodiscard]] std::vector<T> run(index_t n, bool in_place) const {
    std::vector<T> first = values[0];
    std::vector<T> result(first.size());
    const T repeated = n > 0 ? values[2][0] : T{};
    const const_any_block blocks[leaves]{{first.data(), element_of<T>, {n}, {1}},
                                         {values[1].data(), element_of<T>, {n}, {1}},
                                         {&repeated, element_of<T>, {n}, {0}}};
    std::vector<T>& out = in_place ? first : result;
    pass.run({blocks, leaves}, {out.data(), element_of<T>, {n}, {1}});
    return out;
  }
};

template <class T>
void check_bits(unsigned seed) {
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    const index_t sizes[] = {1, 5, 31, 63, 64, 65, 127, 129, 257, 1000, 1024, 1088, 2085};
    const index_t n = sizes[static_cast<std::size_t>(round) % std::size(sizes)];
    const random_pass<T> made(n, 1 + static_cast<int>(random() % 40), random);
    const std::vector<T>& expected = made.values.back();
    for (const bool in_place : {false, true}) {
      const std::vector<T> there = made.run(n, in_place);
      const bool same = std::equal(there.begin(), there.end(), expected.begin(), same_bits<T>);
      CAPTURE(round, n, in_place);
      REQUIRE(same);
    }
  }
  REQUIRE(random_pass<T>(0, 5, random).run(0, false).empty());
}

template <class F>
int call(pass_program& pass, int x) {
  return pass.apply(function<F, float, 1>, {&x, 1}, element::f32);
}
template <class F>
int call(pass_program& pass, int x, int y) {
  const int operands[2]{x, y};
  return pass.apply(function<F, float, 2>, operands, element::f32);
}

}  // namespace

TEST_CASE("interpreted passes have the bits of their functions one by one") {
  check_bits<float>(1);
  check_bits<double>(2);
  check_bits<std::int32_t>(3);
}

TEST_CASE("the same function of the same values is computed once") {
  pass_program pass;
  const int x = pass.read(element_kernels_of<float>);
  const int y = pass.read(element_kernels_of<float>);
  const auto inner = [&](int of) { return call<f::add>(pass, of, pass.number(2.0F)); };
  const int one = call<f::tanh>(pass, inner(x));
  CHECK(call<f::tanh>(pass, inner(x)) == one);
  CHECK(pass.calls(function<f::tanh, float, 1>) == 1);
  CHECK(pass.calls(function<f::add, float, 2>) == 1);
  // Other operands, another order of them, another number: other values.
  CHECK(call<f::tanh>(pass, inner(y)) != one);
  CHECK(pass.calls(function<f::tanh, float, 1>) == 2);
  CHECK(call<f::subtract>(pass, x, y) != call<f::subtract>(pass, y, x));
  CHECK(pass.number(2.0F) != pass.number(-2.0F));
  CHECK(pass.number(0.0F) != pass.number(-0.0F));
  CHECK(pass.number(0.0F) != pass.number(0.0));
}

TEST_CASE("a pass gives what was applied last, whatever it was asked for besides") {
  pass_program pass;
  const int x = pass.read(element_kernels_of<float>);
  const int doubled = call<f::add>(pass, x, x);
  (void)call<f::square>(pass, doubled);
  (void)call<f::add>(pass, x, x);
  pass.write(element_kernels_of<float>);
  const std::vector<float> in(300, 3.0F);
  std::vector<float> out(300);
  const const_any_block block{in.data(), element::f32, {300}, {1}};
  pass.run({&block, 1}, {out.data(), element::f32, {300}, {1}});
  CHECK(out == std::vector<float>(300, 6.0F));
}
