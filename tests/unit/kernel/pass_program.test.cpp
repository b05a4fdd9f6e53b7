// SPDX-License-Identifier: BSL-1.0
// Interpreted passes: common subexpressions are computed once, and the bits equal those of single
// functions.
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
constexpr block_function function = internal::uniform_function<F, T, N>();

/// The functions of random passes; the last two are never chained.
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
  // A function of two NaNs may return either.
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

/// A pass of random functions over three blocks and two numbers, compared with the same functions
/// applied one by one.
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
      // Recent values are chosen most often, so that functions form chains.
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

  /// Runs the pass, in place of its first block on request.
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

TEST_CASE("blocks in the order of the result stand beside rows, columns and transposed ones") {
  constexpr index_t rows = 31, columns = 70;
  std::mt19937 random(5);
  const std::vector<float> whole = numbers<float>(rows * columns, random),
                           row = numbers<float>(columns, random),
                           column = numbers<float>(rows, random),
                           turned = numbers<float>(rows * columns, random);
  std::vector<bfloat16> narrow;
  for (const float each : whole) narrow.push_back(bfloat16(each));
  pass_program pass;
  int slots[5];
  for (int k = 0; k < 5; ++k)
    slots[k] =
        k == 4 ? pass.read(element_kernels_of<bfloat16>) : pass.read(element_kernels_of<float>);
  int sum = slots[0];
  for (int k = 1; k < 5; ++k) sum = call<f::add>(pass, sum, slots[k]);
  pass.write(element_kernels_of<float>);
  const extents_desc extents{rows, columns};
  const const_any_block blocks[]{{whole.data(), element::f32, extents, {columns, 1}},
                                 {row.data(), element::f32, extents, {0, 1}},
                                 {column.data(), element::f32, extents, {1, 0}},
                                 {turned.data(), element::f32, extents, {1, rows}},
                                 {narrow.data(), element::bf16, extents, {columns, 1}}};
  std::vector<float> expected, out = whole;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < columns; ++j) {
      const auto at = [](index_t n) { return static_cast<std::size_t>(n); };
      expected.push_back(whole[at(i * columns + j)] + row[at(j)] + column[at(i)] +
                         turned[at(j * rows + i)] +
                         static_cast<float>(narrow[at(i * columns + j)]));
    }
  pass.run(blocks, {out.data(), element::f32, extents, {columns, 1}});
  CHECK(std::equal(out.begin(), out.end(), expected.begin(), same_bits<float>));
}

namespace {

/// Passes that only negate a broadcast row, and a broadcast column.
template <class T>
void check_broadcasts() {
  constexpr bool computes_as_stored = computed_in(element_of<T>) == element_of<T>;
  using C = compute_type<T>;
  for (const index_t columns : {2, 3, 7, 10, 15, 16, 17, 33, 64, 300, 1030}) {
    const index_t rows = 2500 / columns + 2;
    std::vector<T> values;
    for (index_t i = 0; i < std::max(2 * rows, columns); ++i)
      values.push_back(static_cast<T>(static_cast<float>(i % 50)));
    for (const bool is_row : {true, false})
      for (const index_t step : {1, 2}) {
        if (is_row && step == 2) continue;
        pass_program pass;
        const int x = pass.read(element_kernels_of<T>);
        (void)pass.apply(function<f::negate, C, 1>, {&x, 1}, element_of<T>);
        pass.write(element_kernels_of<T>);
        std::vector<T> out(static_cast<std::size_t>(rows * columns));
        const extents_desc extents{rows, columns};
        const const_any_block block{values.data(), element_of<T>, extents,
                                    is_row ? extents_desc{0, 1} : extents_desc{step, 0}};
        pass.run({&block, 1}, {out.data(), element_of<T>, extents, {columns, 1}});
        bool equal = true;
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < columns; ++j) {
            const auto from = static_cast<std::size_t>(is_row ? j : i * step);
            equal = equal && static_cast<C>(out[static_cast<std::size_t>(i * columns + j)]) ==
                                 static_cast<C>(-static_cast<C>(values[from]));
          }
        CAPTURE(columns, is_row, step, computes_as_stored);
        CHECK(equal);
      }
  }
}

}  // namespace

TEST_CASE("rows and columns of any length are repeated, in every type") {
  check_broadcasts<float>();
  check_broadcasts<double>();
  check_broadcasts<bfloat16>();
  check_broadcasts<std::int32_t>();
  check_broadcasts<std::int64_t>();
  check_broadcasts<std::int8_t>();
}

namespace {

/// Passes that only subtract a block from another, or are one chain that begins so, whatever the
/// distances between the elements of the second one and between its rows.
template <class T, class Stored>
void check_single_steps(index_t rows, index_t columns) {
  std::mt19937 random(7);
  const auto at = [](index_t n) { return static_cast<std::size_t>(n); };
  const std::vector<T> whole = numbers<T>(rows * columns, random);
  std::vector<Stored> values;
  for (const T each : numbers<T>(2 * (rows + 1) * (columns + 1), random))
    values.push_back(static_cast<Stored>(each));
  struct view {
    index_t first, row, element;
  };
  // Rows themselves, shifted, reversed, every second element, columns, numbers, and one row.
  const view views[]{{0, columns, 1},
                     {1, columns + 1, 1},
                     {columns - 1, columns, -1},
                     {columns, columns + 1, -1},
                     {1, 2 * columns + 1, 2},
                     {0, 1, rows},
                     {0, 1, 0},
                     {3, 0, 0},
                     {0, 0, 1}};
  for (const auto [first, row, element] : views)
    for (const bool is_chain : {false, true})
      for (const bool in_place : {false, true}) {
        pass_program pass;
        const int operands[2]{pass.read(element_kernels_of<T>),
                              pass.read(element_kernels_of<Stored>)};
        int last = pass.apply(function<f::subtract, T, 2>, operands, element_of<T>);
        if (is_chain) {
          const int again[2]{last, operands[1]};
          last = pass.apply(function<f::multiply, T, 2>, again, element_of<T>);
          (void)pass.apply(function<f::abs, T, 1>, {&last, 1}, element_of<T>);
        }
        pass.write(element_kernels_of<T>);
        std::vector<T> operand = whole, apart(whole.size());
        std::vector<T>& out = in_place ? operand : apart;
        const extents_desc extents{rows, columns};
        const const_any_block blocks[]{
            {operand.data(), element_of<T>, extents, {columns, 1}},
            {values.data() + first, element_of<Stored>, extents, {row, element}}};
        pass.run(blocks, {out.data(), element_of<T>, extents, {columns, 1}});
        index_t wrong = 0;
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < columns; ++j) {
            const T a = whole[at(i * columns + j)],
                    b = static_cast<T>(values[at(first + i * row + j * element)]);
            const T expected = is_chain ? std::abs((a - b) * b) : a - b;
            wrong += same_bits(out[at(i * columns + j)], expected) ? 0 : 1;
          }
        CAPTURE(rows, columns, first, row, element, is_chain, in_place);
        CHECK(wrong == 0);
      }
}

}  // namespace

TEST_CASE("a single step reads rows of any length, whatever the strides of its operands") {
  for (const index_t rows : {1, 2, 5})
    for (const index_t columns :
         {1, 2, 17, 63, 64, 65, 100, 127, 128, 129, 300, 1024, 1030, 2500}) {
      check_single_steps<float, float>(rows, columns);
      check_single_steps<float, bfloat16>(rows, columns);
      check_single_steps<double, double>(rows, columns);
    }
}

namespace {

/// Passes that end with a conversion to the stored type, from contiguous elements, columns,
/// broadcast rows and broadcast numbers.
template <class From, class To>
void check_conversions() {
  using C = compute_type<From>;
  using D = compute_type<To>;
  constexpr block_function converts = block_function_of<f::cast<To>, D, C>();
  std::mt19937 random(11);
  for (const index_t columns : {1, 3, 16, 100, 1030})
    for (const int kind : {0, 1, 2, 3})
      for (const bool is_negated : {false, true}) {
        const index_t rows = 7;
        std::vector<From> values;
        for (float each : numbers<float>(2 * rows * columns, random))
          values.push_back(static_cast<From>(each * 1.001F));
        const index_t strides[][2]{{columns, 1}, {2 * columns, 2}, {0, 1}, {1, 0}};
        pass_program pass;
        int x = pass.read(element_kernels_of<From>);
        if (is_negated) x = pass.apply(function<f::negate, C, 1>, {&x, 1}, element_of<From>);
        (void)pass.apply(converts, {&x, 1}, element_of<To>);
        pass.write(element_kernels_of<To>);
        const extents_desc extents{rows, columns};
        std::vector<To> out(static_cast<std::size_t>(rows * columns));
        const const_any_block block{
            values.data(), element_of<From>, extents, {strides[kind][0], strides[kind][1]}};
        pass.run({&block, 1}, {out.data(), element_of<To>, extents, {columns, 1}});
        index_t wrong = 0;
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < columns; ++j) {
            C number =
                values[static_cast<std::size_t>(i * strides[kind][0] + j * strides[kind][1])];
            if (is_negated) number = -number;
            const To expected(static_cast<D>(number));
            wrong += same_bits(static_cast<D>(out[static_cast<std::size_t>(i * columns + j)]),
                               static_cast<D>(expected))
                         ? 0
                         : 1;
          }
        CAPTURE(columns, kind, is_negated);
        CHECK(wrong == 0);
      }
}

}  // namespace

TEST_CASE("conversions at the end of a pass are done where its elements are stored") {
  check_conversions<float, bfloat16>();
  check_conversions<float, float16>();
  check_conversions<bfloat16, float>();
  check_conversions<float16, float>();
  check_conversions<bfloat16, float16>();
  check_conversions<float, float>();
  check_conversions<double, float>();
}

TEST_CASE("a conversion inside a pass rounds") {
  pass_program pass;
  int x = pass.read(element_kernels_of<float>);
  x = pass.apply(block_function_of<f::cast<bfloat16>, float, float>(), {&x, 1}, element::bf16);
  x = pass.apply(block_function_of<f::cast<float>, float, float>(), {&x, 1}, element::f32);
  pass.write(element_kernels_of<float>);
  std::vector<float> from(100, 1.003F), out(100);
  const const_any_block block{from.data(), element::f32, {100}, {1}};
  pass.run({&block, 1}, {out.data(), element::f32, {100}, {1}});
  CHECK(out == std::vector<float>(100, 1.0F));
}

namespace {

/// `where` on runs of any length, where some operands are single numbers; also into an operand.
template <class T>
void check_choices() {
  constexpr block_function chooses = block_function_of<f::where, T, bool, T, T>();
  constexpr block_function masks = block_function_of<f::masked, T, T, bool>();
  std::mt19937 random(12);
  constexpr std::size_t most = 200;
  bool chosen[most];
  T a[most], b[most], out[most];
  for (std::size_t i = 0; i < most; ++i) {
    chosen[i] = random() % 2 != 0;
    a[i] = static_cast<T>(random() % 100 + 1);
    b[i] = static_cast<T>(random() % 100 + 1);
  }
  index_t wrong = 0;
  for (index_t n = 0; n <= index_t{most}; ++n)
    for (unsigned repeated = 0; repeated < 8; ++repeated) {
      // A single number fills a step.
      T first[most], second[most];
      bool condition[most];
      index_t moves[3];
      for (std::size_t k = 0; k < 3; ++k) moves[k] = (repeated >> k & 1U) == 0;
      for (std::size_t i = 0; i < most; ++i) {
        condition[i] = chosen[moves[0] == 0 ? 5 : i];
        first[i] = a[moves[1] == 0 ? 7 : i];
        second[i] = b[moves[2] == 0 ? 9 : i];
      }
      const void* const from[]{condition, first, second};
      chooses.run(from, moves, out, n);
      const void* const masked[]{first, condition};
      const index_t masked_moves[]{moves[1], moves[0]};
      T kept[most];
      masks.run(masked, masked_moves, kept, n);
      if (moves[1] != 0) chooses.run(from, moves, first, n);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const T expected = condition[i] ? a[moves[1] == 0 ? 7 : i] : second[i];
        wrong += out[i] == expected ? 0 : 1;
        wrong += kept[i] == (condition[i] ? expected : T{}) ? 0 : 1;
        wrong += moves[1] == 0 || first[i] == expected ? 0 : 1;
      }
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("elements are chosen in runs of any length, in every type") {
  check_choices<float>();
  check_choices<double>();
  check_choices<std::int8_t>();
  check_choices<std::uint8_t>();
  check_choices<std::int32_t>();
  check_choices<std::int64_t>();
}
