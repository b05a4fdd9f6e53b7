// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/small_product.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

using namespace shardwise;

namespace {

/// A matrix in memory of its own, with gaps between its rows, or between its columns where these
/// are neighbours.
template <class C>
struct matrix {
  static constexpr index_t gap = 3;
  std::vector<C> memory;
  matrix_view<C> view;

  matrix(index_t rows, index_t columns, bool in_rows, C value = {})
      : memory(static_cast<std::size_t>(in_rows ? rows * (columns + gap) : columns * (rows + gap)),
               value),
        view{memory.data(), rows, columns, in_rows ? columns + gap : 1, in_rows ? 1 : rows + gap} {}
  [[nodiscard]] C& at(index_t i, index_t j) {
    return view.data[i * view.row_stride + j * view.column_stride];
  }
  [[nodiscard]] matrix_view<const C> read() const {
    return {view.data, view.rows, view.columns, view.row_stride, view.column_stride};
  }
  template <class Next>
  void fill(Next next) {
    for (index_t i = 0; i < view.rows; ++i)
      for (index_t j = 0; j < view.columns; ++j) at(i, j) = next();
  }
};

/// Integers whose sums are exact in any order.
template <class C>
void check_sizes() {
  std::mt19937 random(7);
  const auto small = [&] { return static_cast<C>(static_cast<int>(random() % 9) - 4); };
  for (index_t rows = 1; rows < 10; ++rows)
    for (index_t columns = 1; columns < 70; columns += columns < 36 ? 1 : 7)
      for (const index_t depth : {0, 1, 2, 5})
        for (const bool left : {false, true})
          for (const bool right : {false, true}) {
            matrix<C> a(rows, depth, left), b(depth, columns, right);
            a.fill(small);
            b.fill(small);
            constexpr C untouched{77};
            matrix<C> out(rows, columns, true, untouched), expected = out;
            expected.view.data = expected.memory.data();
            for (index_t i = 0; i < rows; ++i)
              for (index_t j = 0; j < columns; ++j) {
                C sum{0};
                for (index_t k = 0; k < depth; ++k) sum += a.at(i, k) * b.at(k, j);
                expected.at(i, j) = sum;
              }
            detail::multiply_small<C>(a.read(), b.read(), out.view);
            if (out.memory != expected.memory) {
              CAPTURE(rows, columns, depth, left, right);
              REQUIRE(out.memory == expected.memory);
            }
          }
}

}  // namespace

TEST_CASE("small products of all sizes and orders give what loops give, and write nothing else") {
  check_sizes<float>();
  check_sizes<double>();
}

TEST_CASE(
    "an element of a small product has the same bits wherever it is and however it is stored") {
  constexpr index_t rows = 7, columns = 45, depth = 19;
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  matrix<float> a(rows, depth, true), b(depth, columns, true), out(rows, columns, true);
  matrix<float> a_turned(rows, depth, false), b_turned(depth, columns, false);
  a.fill([&] { return normal(random); });
  b.fill([&] { return normal(random); });
  for (index_t i = 0; i < rows; ++i)
    for (index_t k = 0; k < depth; ++k) a_turned.at(i, k) = a.at(i, k);
  for (index_t k = 0; k < depth; ++k)
    for (index_t j = 0; j < columns; ++j) b_turned.at(k, j) = b.at(k, j);
  detail::multiply_small<float>(a.read(), b.read(), out.view);
  matrix<float> turned(rows, columns, true);
  detail::multiply_small<float>(a_turned.read(), b_turned.read(), turned.view);
  CHECK(turned.memory == out.memory);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < columns; ++j) {
      matrix_view<const float> column = b.read();
      column.data += j;
      column.columns = 1;
      float one = 0;
      detail::multiply_small<float>(a.read().row_range(i, i + 1), column, {&one, 1, 1, 1, 1});
      REQUIRE(std::memcmp(&one, &out.at(i, j), sizeof one) == 0);
    }
}

TEST_CASE("a small product of negative zeros is zero, as a larger one is") {
  matrix<float> a(3, 2, true, -0.0F), b(2, 20, true, 1.0F), out(3, 20, true, 1.0F);
  detail::multiply_small<float>(a.read(), b.read(), out.view);
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 20; ++j) {
      const float zero = 0;
      REQUIRE(std::memcmp(&out.at(i, j), &zero, sizeof zero) == 0);
    }
}
