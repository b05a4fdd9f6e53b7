// SPDX-License-Identifier: BSL-1.0
// Sums by index of rows of any length, in memory that is not zero.
#include "shardwise/kernel/scatter_kernel.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

using namespace shardwise;

namespace {

/// Two blocks of rows of `row` elements. Some rows share an index, some have none, and one begins
/// with -0.
template <class T>
void check_segment_sum(index_t row, bool is_turned) {
  using C = compute_type<T>;
  constexpr index_t blocks = 2, rows = 6, count = 7;
  const std::vector<std::int32_t> ids{2, 0, 2, 100, 5, 2};
  std::vector<T> from;
  for (index_t i = 0; i < blocks * rows * row; ++i)
    from.push_back(static_cast<T>(static_cast<C>(i % 37) - static_cast<C>(4)));
  const index_t first_place = is_turned ? 1 : row;
  for (index_t b = 0; b < blocks; ++b)
    from[static_cast<std::size_t>(b * rows * row + first_place)] = static_cast<T>(-C{});
  std::vector<T> to(static_cast<std::size_t>(blocks * count * row), static_cast<T>(C{99}));

  const const_any_block operands[]{
      {from.data(),
       element_of<T>,
       {blocks, rows, row},
       is_turned ? extents_desc{rows * row, 1, rows} : extents_desc{rows * row, row, 1}},
      {ids.data(), element::i32, {rows}, {1}}};
  const any_block result{to.data(), element_of<T>, {blocks, count, row}, {count * row, row, 1}};
  const attributes how = integer_attributes(1, count, static_cast<index_t>(out_of_range::fill));
  const factor_rule rule{};
  const factor_sizes sizes{};
  const held_box made{};
  kernel_of<segment_sum_operation>::run<T>({how, rule, operands, {}, {&result, 1}, sizes, made});

  index_t wrong = 0;
  for (index_t b = 0; b < blocks; ++b)
    for (index_t v = 0; v < count; ++v)
      for (index_t i = 0; i < row; ++i) {
        C expected{};
        for (index_t r = 0; r < rows; ++r)
          if (ids[static_cast<std::size_t>(r)] == v)
            expected += static_cast<C>(from[static_cast<std::size_t>(
                b * rows * row + (is_turned ? i * rows + r : r * row + i))]);
        const T found = to[static_cast<std::size_t>((b * count + v) * row + i)];
        bool is_same = static_cast<C>(found) == static_cast<C>(static_cast<T>(expected));
        if constexpr (std::floating_point<C>)
          is_same = is_same && std::signbit(static_cast<C>(found)) == std::signbit(expected);
        wrong += is_same ? 0 : 1;
      }
  CAPTURE(row, is_turned, sizeof(T));
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("rows of any length are summed by index, whatever the memory held") {
  for (const index_t row : {1, 3, 63, 64, 65, 200, 1030})
    for (const bool is_turned : {false, true}) {
      check_segment_sum<float>(row, is_turned);
      check_segment_sum<double>(row, is_turned);
      check_segment_sum<bfloat16>(row, is_turned);
      check_segment_sum<std::int32_t>(row, is_turned);
      check_segment_sum<std::int64_t>(row, is_turned);
    }
}
