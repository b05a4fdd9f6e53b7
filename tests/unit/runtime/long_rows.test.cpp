// SPDX-License-Identifier: BSL-1.0
// Kernels that process rows, on rows longer than their registers and buffers, compared with plain
// loops.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace shardwise;

namespace {

struct line : mesh<axis<"x", 2>> {};
template <class T>
using block =
    sharded_tensor<T, extents<dyn, dyn, dyn>, layout<line, P<"x", none, none>, partial<>, uneven>>;

/// Integers whose sums are exact in every type and order.
template <class T>
std::vector<T> numbers(index_t count) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<T>(i * 7919 % 13) - T{6};
  return all;
}

/// Returns the number of elements of a result that are not `want(i, j, k)`.
template <class X, class Want>
index_t wrong_in(const X& x, index_t rows, index_t columns, const Want& want) {
  const auto made = to_host(x);
  index_t wrong = 0, at = 0;
  for (const auto& element : made.elements()) {
    const index_t k = at % columns, j = at / columns % rows, i = at / columns / rows;
    wrong += element == want(i, j, k) ? 0 : 1;
    ++at;
  }
  return wrong;
}

template <class T>
void check(const device_pool& pool, index_t columns) {
  constexpr index_t blocks = 3, rows = 11;
  const std::vector<T> host = numbers<T>(blocks * rows * columns);
  const auto at = [&](index_t i, index_t j, index_t k) {
    return host[static_cast<std::size_t>((i * rows + j) * columns + k)];
  };
  const auto x = distribute<block<T>>(pool, host, blocks, rows, columns);
  const auto first_of_largest = [&](index_t i, index_t k) {
    index_t best = 0;
    for (index_t j = 1; j < rows; ++j)
      if (at(i, j, k) > at(i, best, k)) best = j;
    return best;
  };
  const auto sum_of = [&](index_t i, index_t end, index_t k) {
    T total{0};
    for (index_t j = 0; j < end; ++j) total = static_cast<T>(total + at(i, j, k));
    return total;
  };
  CAPTURE(columns, sizeof(T));
  CHECK(wrong_in(cumsum<1>(x), rows, columns,
                 [&](index_t i, index_t j, index_t k) { return sum_of(i, j + 1, k); }) == 0);
  CHECK(wrong_in(sum<1>(x), 1, columns,
                 [&](index_t i, index_t, index_t k) { return sum_of(i, rows, k); }) == 0);
  CHECK(wrong_in(max<1>(x), 1, columns, [&](index_t i, index_t, index_t k) {
          return at(i, first_of_largest(i, k), k);
        }) == 0);
  const auto [largest, where] = max_with_index<1>(x);
  CHECK(wrong_in(largest, 1, columns, [&](index_t i, index_t, index_t k) {
          return at(i, first_of_largest(i, k), k);
        }) == 0);
  CHECK(wrong_in(where, 1, columns,
                 [&](index_t i, index_t, index_t k) { return first_of_largest(i, k); }) == 0);
  CHECK(wrong_in(flip<2>(x), rows, columns,
                 [&](index_t i, index_t j, index_t k) { return at(i, j, columns - 1 - k); }) == 0);
  CHECK(wrong_in(roll<2, 3>(x), rows, columns, [&](index_t i, index_t j, index_t k) {
          return at(i, j, (k + columns - 3 % columns) % columns);
        }) == 0);
  CHECK(wrong_in(roll<1, -4>(x), rows, columns,
                 [&](index_t i, index_t j, index_t k) { return at(i, (j + 4) % rows, k); }) == 0);
  CHECK(wrong_in(
            roll<2, 1>(transpose<0, 2, 1>(x)), columns, rows,
            [&](index_t i, index_t k, index_t j) { return at(i, (j + rows - 1) % rows, k); }) == 0);
  // One step that reads rows of views in place, some of which are repeated; and several steps.
  CHECK(wrong_in(diff<2>(x), rows, columns - 1, [&](index_t i, index_t j, index_t k) {
          return static_cast<T>(at(i, j, k + 1) - at(i, j, k));
        }) == 0);
  const auto behind = [&](const auto& from) { return slice_in_dim<2, 1, open_end>(from); };
  const auto first = slice_in_dim<2, 0, 1>(x);
  CHECK(wrong_in(behind(x) - first, rows, columns - 1, [&](index_t i, index_t j, index_t k) {
          return static_cast<T>(at(i, j, k + 1) - at(i, j, 0));
        }) == 0);
  CHECK(wrong_in(behind(x) - behind(flip<2>(x)) * first, rows, columns - 1,
                 [&](index_t i, index_t j, index_t k) {
                   return static_cast<T>(at(i, j, k + 1) -
                                         static_cast<T>(at(i, j, columns - 2 - k) * at(i, j, 0)));
                 }) == 0);
}

}  // namespace

TEST_CASE("Rows of any length are scanned, reduced, reversed and rolled") {
  const device_pool pool{line{}};
  for (const index_t columns : {1, 2, 15, 16, 17, 31, 67, 1025, 4099, 16385}) {
    check<float>(pool, columns);
    check<double>(pool, columns);
    check<std::int8_t>(pool, columns);
    check<std::int64_t>(pool, columns);
  }
}
