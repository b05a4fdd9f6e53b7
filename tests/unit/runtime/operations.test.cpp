// SPDX-License-Identifier: BSL-1.0
// Casts, comparisons, `where`, logical functions, transposes and `max_with_index`.
#include "unit/runtime/element_values.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

using namespace element_values;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Returns the bits of the nearest number with this precision and exponent range, ties to even.
std::uint16_t nearest(long double x, int precision, int least, int largest) {
  const int stored = precision - 1;
  const int sign = std::signbit(x) ? 0x8000 : 0;
  const int infinity = (largest - least + 2) << stored;
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | infinity);
  const int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  if (exponent > largest) return static_cast<std::uint16_t>(sign | infinity);
  const long double units = std::nearbyint(std::ldexp(std::fabs(x), stored - exponent));
  const int all = static_cast<int>(units) + ((exponent - least) << stored);
  return static_cast<std::uint16_t>(sign | std::min(all, infinity));
}

/// Returns the bits of a number that is cast to an element type; all NaN are the same.
std::uint64_t converted(long double x, element to) {
  const bool is_nan = std::isnan(x);
  const auto whole = [&]<class T>(std::type_identity<T>) {
    using limits = std::numeric_limits<T>;
    T value = 0;
    if (!is_nan && x <= static_cast<long double>(limits::min()))
      value = limits::min();
    else if (!is_nan && x >= static_cast<long double>(limits::max()))
      value = limits::max();
    else if (!is_nan)
      value = static_cast<T>(x);
    return static_cast<std::uint64_t>(value);
  };
  switch (to) {
    case element::boolean:
      return x != 0 ? 1 : 0;
    case element::i8:
      return whole(std::type_identity<std::int8_t>{});
    case element::u8:
      return whole(std::type_identity<std::uint8_t>{});
    case element::i32:
      return whole(std::type_identity<std::int32_t>{});
    case element::i64:
      return whole(std::type_identity<std::int64_t>{});
    case element::bf16:
      return is_nan ? 0x7FC0 : nearest(x, 8, -126, 127);
    case element::f16:
      return is_nan ? 0x7E00 : nearest(x, 11, -14, 15);
    case element::f32:
      return is_nan ? 0x7FC00000 : std::bit_cast<std::uint32_t>(static_cast<float>(x));
    default:
      return is_nan ? 0x7FF8000000000000 : std::bit_cast<std::uint64_t>(static_cast<double>(x));
  }
}

/// The value and the bits of an element; NaN has the bits of `converted`.
template <class T>
std::pair<long double, std::uint64_t> number_and_bits(T x) {
  if constexpr (Fractional<T>) {
    const auto value = static_cast<long double>(static_cast<compute_type<T>>(x));
    return {value, converted(value, element_of<T>)};
  } else {
    return {static_cast<long double>(x), static_cast<std::uint64_t>(x)};
  }
}

/// Returns the element with these bits.
template <class T>
T element_of_bits(std::uint64_t bits) {
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<double>(bits);
  else if constexpr (Fractional<T>)
    return T::from_bits(static_cast<std::uint16_t>(bits));
  else
    return static_cast<T>(bits);
}

/// Numbers at which conversions are critical: ends of ranges, ties, and numbers that two roundings
/// in a row would get wrong.
std::vector<long double> samples() {
  std::vector<long double> all{
      0,        -0.0L,        0.5L,     -0.5L,       0.99L,   -0.99L,      1,
      -1,       1.5L,         -2.5L,    126.5L,      127,     127.5L,      128,
      -128,     -128.9L,      -129,     255,         255.9L,  256,         300,
      65504,    65519,        65519.9L, 65520,       65535,   1e10L,       3.4e38L,
      3.5e38L,  1e39L,        1e300L,   1e-300L,     1e-45L,  1e-8L,       3e-8L,
      infinite, not_a_number, 0x1p31L,  0x1p31L - 1, 0x1p63L, 0x1p63L - 1, -0x1p63L};
  for (long double base : {1.0L, 0x1p30L, 0x1p50L, 0x1p62L, 0x1p-20L, 0x1p-130L})
    for (int place = 1; place < 30; ++place)
      for (long double little : {0.0L, 0x1p-29L, -0x1p-29L, 0x1p-52L, -0x1p-52L})
        all.push_back(base * (1 + std::ldexp(1.0L, -place) + little));
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) all.push_back(-all[i]);
  return all;
}

/// Casts the samples, as elements of `From`, to all types, by the functions of the table, which
/// passes use too.
template <class From>
void check_casts(const std::vector<long double>& numbers) {
  row<From> from(numbers.size());
  std::vector<long double> exact;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    from[i] = element_of_bits<From>(converted(numbers[i], element_of<From>));
    exact.push_back(number_and_bits(from[i]).first);
  }
  const device_pool pool(2);
  layout_desc split;
  split.dims.resize(1);
  split.dims[0].push_back(0);
  split.uneven = true;
  const any_tensor<From> x =
      distribute<From>(pool, from, {static_cast<index_t>(from.size())}, split);
  for_each_type([&]<class To>(std::type_identity<To>) {
    const row<To> made = values(cast<To>(x));
    for (std::size_t i = 0; i < made.size(); ++i) {
      INFO(to_text(element_of<From>)
           << " " << static_cast<double>(exact[i]) << " to " << to_text(element_of<To>));
      const auto expected = static_cast<std::uint64_t>(converted(exact[i], element_of<To>));
      if (number_and_bits(made[i]).second != expected)
        REQUIRE(number_and_bits(made[i]).second == expected);
    }
  });
}

layout_desc split_in_two() {
  layout_desc split;
  split.dims.resize(1);
  split.dims[0].push_back(0);
  split.uneven = true;
  return split;
}

/// Two operands with all combinations of some numbers, including NaN, longer than one block.
template <class T>
std::pair<row<T>, row<T>> all_pairs() {
  std::vector<double> numbers{0, 1, 2, 5, 100};
  if constexpr (Fractional<T>) numbers = {0, -0.0, 1.5, -3, infinite, -infinite, not_a_number};
  if constexpr (std::same_as<T, bool>) numbers = {0, 1};
  std::pair<row<T>, row<T>> all{row<T>(700), row<T>(700)};
  for (std::size_t i = 0; i < 700; ++i) {
    const auto pick = [&](std::size_t n) {
      return element_of_bits<T>(converted(numbers[n % numbers.size()], element_of<T>));
    };
    all.first[i] = pick(i);
    all.second[i] = pick(i / numbers.size());
  }
  return all;
}

template <class T>
void check_comparisons() {
  const device_pool pool(2);
  const auto [a, b] = all_pairs<T>();
  const auto x = distribute<T>(pool, a, {700}, split_in_two());
  const auto y = distribute<T>(pool, b, {700}, split_in_two());
  const row<bool> made[] = {values(equal(x, y)), values(x < y), values(x <= y), values(x > y),
                            values(x >= y)};
  const row<T> chosen = values(where(x < y, x, y));
  const row<T> kept = values(stop_gradient(x));
  for (std::size_t i = 0; i < 700; ++i) {
    const auto p = number<T>(a[i]);
    const auto q = number<T>(b[i]);
    INFO(to_text(element_of<T>) << " " << p << " and " << q);
    if (made[0][i] != (p == q)) REQUIRE(made[0][i] == (p == q));
    if (made[1][i] != (p < q)) REQUIRE(made[1][i] == (p < q));
    if (made[2][i] != (p <= q)) REQUIRE(made[2][i] == (p <= q));
    if (made[3][i] != (p > q)) REQUIRE(made[3][i] == (p > q));
    if (made[4][i] != (p >= q)) REQUIRE(made[4][i] == (p >= q));
    const T expected = p < q ? a[i] : b[i];
    REQUIRE(number_and_bits(chosen[i]).second == number_and_bits(expected).second);
  }
  REQUIRE(same_bits(kept, a));
}

}  // namespace

TEST_CASE("a cast gives the nearest number that the type has, from any type to any") {
  const auto numbers = samples();
  for_each_type([&]<class From>(std::type_identity<From>) { check_casts<From>(numbers); });
}

TEST_CASE("every type compares and chooses as its numbers do, NaN among them") {
  for_each_type([]<class T>(std::type_identity<T>) { check_comparisons<T>(); });
}

TEST_CASE("numbers beside tensors are compared and chosen on either side") {
  const device_pool pool(2);
  const auto [a, unused] = all_pairs<float>();
  const auto x = distribute<float>(pool, a, {700}, split_in_two());
  const row<bool> above = values(x > 1.0F);
  const row<bool> below = values(0.0F < x);
  const row<float> steps = values(where(x > 1.0F, 1.0F, -1.0F));
  const row<float> clipped = values(where(x > 1.0F, 1.0F, x));
  const row<float> counted = values(cast<float>(logical_not(x > 1.0F)) * 2.0F + 1.0F);
  for (std::size_t i = 0; i < 700; ++i) {
    REQUIRE(above[i] == (a[i] > 1));
    REQUIRE(below[i] == (a[i] > 0));
    REQUIRE(steps[i] == (a[i] > 1 ? 1.0F : -1.0F));
    REQUIRE(std::bit_cast<std::uint32_t>(clipped[i]) ==
            std::bit_cast<std::uint32_t>(a[i] > 1 ? 1.0F : a[i]));
    REQUIRE(counted[i] == (a[i] > 1 ? 1.0F : 3.0F));
  }
}

TEST_CASE("functions of truth values, alone and fused with comparisons") {
  const device_pool pool(2);
  const auto [a, b] = all_pairs<bool>();
  const auto x = distribute<bool>(pool, a, {700}, split_in_two());
  const auto y = distribute<bool>(pool, b, {700}, split_in_two());
  const row<bool> conjunction = values(logical_and(x, y));
  const row<bool> either = values(logical_or(x, y));
  const row<bool> negation = values(logical_not(x));
  const row<bool> one = values(logical_and(logical_or(x, y), logical_not(logical_and(x, y))));
  for (std::size_t i = 0; i < 700; ++i) {
    REQUIRE(conjunction[i] == (a[i] && b[i]));
    REQUIRE(either[i] == (a[i] || b[i]));
    REQUIRE(negation[i] == !a[i]);
    REQUIRE(one[i] == (a[i] != b[i]));
  }
}

namespace {

/// Transposes a tensor with a layout and compares the result with plain loops.
template <class T, int A, int B, int C>
void check_transpose(const device_pool& pool, const layout_desc& layout) {
  const extents_desc from{5, 3, 2};
  const int dims[] = {A, B, C};
  const known<T> x = make<T>(pool, from, layout, 1);
  const any_tensor<T> y = transpose<A, B, C>(stop_gradient(x.tensor));
  INFO(to_text(pool.mesh(), x.tensor.tensor()).c_str());
  REQUIRE(y.layout().pending == layout.pending);
  if (layout.pending != 0) REQUIRE(y.layout().kind == layout.kind);
  row<T> expected(x.value.size());
  const auto strides = row_major(from);
  std::size_t next = 0;
  for (index_t i = 0; i < from[A]; ++i)
    for (index_t j = 0; j < from[B]; ++j)
      for (index_t k = 0; k < from[C]; ++k)
        expected[next++] = x.value[i * strides[A] + j * strides[B] + k * strides[C]];
  for (int d = 0; d < 3; ++d) {
    REQUIRE(y.extents()[d] == from[dims[d]]);
    REQUIRE(y.layout().dims[d] == layout.dims[dims[d]]);
    REQUIRE(y.layout().grains[d] == layout.grains[dims[d]]);
  }
  REQUIRE(same_bits(values(y), expected));
}

/// The same for every layout with every pending reduction.
template <class T, int A, int B, int C>
void check_transpose() {
  for (const mesh_desc& mesh : generated::meshes({{2}, {3, 2}})) {
    const device_pool pool(mesh, 2);
    for (reduction kind : reductions<T>())
      for (const layout_desc& layout : generated::layouts(mesh, 3, true, kind))
        check_transpose<T, A, B, C>(pool, layout);
  }
}

}  // namespace

TEST_CASE("a transpose moves nothing, whatever the layout, and what is pending stays so") {
  check_transpose<float, 0, 1, 2>();
  check_transpose<float, 1, 0, 2>();
  check_transpose<float, 2, 0, 1>();
  check_transpose<bool, 2, 1, 0>();
  check_transpose<std::int8_t, 0, 2, 1>();
  check_transpose<bfloat16, 1, 2, 0>();
  const device_pool pool(generated::meshes({{3, 2}})[0], 2);
  for (const layout_desc& layout :
       generated::grained_layouts(pool.mesh(), 3, false, {grain::cyclic(1), grain::strided(2)}))
    check_transpose<float, 2, 0, 1>(pool, layout);
}

namespace {

/// The largest element along the middle dimension and its index: NaN is the largest, and of equal
/// elements the first is chosen.
template <class T>
std::pair<row<T>, row<std::int64_t>> plain_largest(const row<T>& x, const extents_desc& e) {
  std::pair<row<T>, row<std::int64_t>> out{
      row<T>(static_cast<std::size_t>(e[0] * e[2])),
      row<std::int64_t>(static_cast<std::size_t>(e[0] * e[2]))};
  for (index_t i = 0; i < e[0]; ++i)
    for (index_t k = 0; k < e[2]; ++k) {
      T best = nothing<T>(reduction::max);
      index_t place = -1;
      for (index_t j = 0; j < e[1]; ++j) {
        const T next = x[static_cast<std::size_t>((i * e[1] + j) * e[2] + k)];
        const auto p = number<T>(next);
        const auto q = number<T>(best);
        const bool nan_first = p != p && q == q;
        if (place >= 0 && !(p > q) && !nan_first) continue;
        best = next;
        place = j;
      }
      out.first[static_cast<std::size_t>(i * e[2] + k)] = best;
      out.second[static_cast<std::size_t>(i * e[2] + k)] = place;
    }
  return out;
}

/// Layouts of three dimensions; those that split the middle one are errors.
template <class T>
void check_largest(const extents_desc& extents) {
  int legal = 0;
  int split = 0;
  for (const mesh_desc& mesh : generated::meshes({{2}, {3, 2}})) {
    const device_pool pool(mesh, 2);
    for (const layout_desc& layout :
         generated::grained_layouts(mesh, 3, false, {grain::cyclic(1)})) {
      const known<T> x = make<T>(pool, extents, layout, 1);
      INFO(to_text(mesh, x.tensor.tensor()).c_str());
      if (!layout.dims[1].empty()) {
        try {
          (void)max_with_index<1>(x.tensor);
          FAIL("a split dimension was taken");
        } catch (const error& refused) {
          REQUIRE(refused.code() == violation::dimension_is_split);
          REQUIRE_THAT(refused.what(), contains("reshard"));
        }
        ++split;
        continue;
      }
      const auto expected = plain_largest(x.value, extents);
      const auto [best, at] = max_with_index<1>(x.tensor);
      REQUIRE(same_bits(values(best), expected.first));
      REQUIRE(same_bits(values(at), expected.second));
      ++legal;
    }
  }
  REQUIRE(legal > 10);
  REQUIRE(split > 10);
}

}  // namespace

TEST_CASE("the largest element and its index, the first of equal ones, under every layout") {
  for_each_type([]<class T>(std::type_identity<T>) {
    if constexpr (!std::same_as<T, bool>) check_largest<T>({4, 5, 3});
  });
  check_largest<float>({4, 0, 3});
  check_largest<std::int32_t>({0, 2, 5});
}

TEST_CASE("NaN is the largest of all, the first NaN if there are several") {
  const device_pool pool(2);
  layout_desc layout;
  layout.dims.resize(2);
  layout.dims[0].push_back(0);
  const auto f = [](double x) { return static_cast<float>(x); };
  const float rows[4][4] = {{1, f(not_a_number), 3, f(not_a_number)},
                            {f(infinite), f(infinite), 0, 1},
                            {f(-infinite), f(-infinite), f(-infinite), f(-infinite)},
                            {-1, 0, -0.0F, f(not_a_number)}};
  const auto x = distribute<float>(pool, std::span<const float>(&rows[0][0], 16), {4, 4}, layout);
  const auto [best, at] = max_with_index<1>(x);
  const row<std::int64_t> places = values(at);
  const row<float> largest = values(best);
  const std::int64_t expected[] = {1, 0, 0, 3};
  for (std::size_t i = 0; i < 4; ++i) REQUIRE(places[i] == expected[i]);
  REQUIRE(std::isnan(largest[0]));
  REQUIRE(largest[1] == f(infinite));
  REQUIRE(largest[2] == f(-infinite));
  REQUIRE(std::isnan(largest[3]));
}

namespace {

struct pair_of : mesh<axis<"x", 2>> {};
using M = sharded_tensor<float, extents<8, 16>, layout<pair_of, P<"x", none>>>;

/// Rows increase, so the last element is the largest.
M counting(const device_pool& pool) { return iota<M>(pool); }

}  // namespace

TEST_CASE(
    "either result of max_with_index may be used alone, and outlives the other and the rest") {
  std::optional<any_tensor<std::int64_t>> kept;
  std::optional<any_tensor<float>> largest;
  {
    const device_pool pool{pair_of{}};
    {
      auto [best, at] = max_with_index<1>(counting(pool) * 2.0F);
      kept = any_tensor<std::int64_t>(at);
    }
    REQUIRE(to_host(*kept).elements()[7] == 15);
    {
      auto [best, at] = max_with_index<1>(counting(pool) * 2.0F);
      largest = any_tensor<float>(best);
    }
    // The first result is computed before the second is read, and is overwritten by its reader.
    auto [best, at] = max_with_index<1>(counting(pool));
    const sharded_tensor more = std::move(best) + 1.0F;
    REQUIRE(to_host(more).elements()[1] == 32.0F);
    const sharded_tensor twice = at * std::int64_t{2};
    const sharded_tensor again = at + std::int64_t{1};
    REQUIRE(to_host(twice).elements()[3] == 30);
    REQUIRE(to_host(again).elements()[3] == 16);
    REQUIRE(to_host(at).elements()[3] == 15);
  }
  REQUIRE(to_host(*kept).elements()[0] == 15);
  REQUIRE(to_host(*largest).elements()[1] == 62.0F);
}

TEST_CASE("the second result of max_with_index is charged once, while somebody has it") {
  const device_pool pool{pair_of{}};
  const index_t rows = 4;
  const sharded_tensor x = counting(pool);
  sync(pool);
  pool.reset_counters();
  const index_t held = pool.counters().peak_bytes_per_device();
  {
    const auto [best, at] = max_with_index<1>(x);
    sync(pool);
    REQUIRE(pool.counters().peak_bytes_per_device() == held + rows * 4 + rows * 8);
  }
  pool.reset_counters();
  REQUIRE(pool.counters().peak_bytes_per_device() == held);
  {
    // A chain of passes overwrites the indices, which have no other reader.
    auto [best, at] = max_with_index<1>(x);
    const sharded_tensor y = std::move(at) * std::int64_t{2} + std::int64_t{1};
    sync(pool);
    REQUIRE(to_host(y).elements()[0] == 31);
    REQUIRE(pool.counters().peak_bytes_per_device() <= held + rows * 4 + 2 * rows * 8);
  }
  pool.reset_counters();
  REQUIRE(pool.counters().peak_bytes_per_device() == held);
}
