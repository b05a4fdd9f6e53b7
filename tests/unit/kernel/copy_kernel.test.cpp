// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/copy_kernel.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

using namespace shardwise;

namespace {

using extents_t = inplace_vector<index_t, max_rank>;

/// The strides of a block whose dimensions lie in memory as `order` says, spread by `spread`.
extents_t strides_of(const extents_t& extents, const std::vector<int>& order, index_t spread) {
  extents_t strides;
  strides.resize(extents.size());
  index_t step = spread;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= extents[order[i]];
  }
  return strides;
}

index_t offset(const extents_t& extents, const extents_t& strides, index_t number) {
  index_t at = 0;
  for (int d = extents.ssize() - 1; d >= 0; --d) {
    at += number % extents[d] * strides[d];
    number /= extents[d];
  }
  return at;
}

template <class T>
void check_copy(const extents_t& extents, const extents_t& from, const extents_t& to) {
  const index_t size = strided<T>{nullptr, extents, from}.size();
  std::vector<T> source(static_cast<std::size_t>(size) * 3 + 1), target(source.size(), T{-1});
  std::iota(source.begin(), source.end(), T{0});
  std::vector<T> expected = target;
  for (index_t i = 0; i < size; ++i)
    expected[static_cast<std::size_t>(offset(extents, to, i))] =
        source[static_cast<std::size_t>(offset(extents, from, i))];
  copy_block<T>({source.data(), extents, from}, {target.data(), extents, to});
  if (target != expected) REQUIRE(target == expected);
  const auto reduce = [](reduction kind, T a, T b) {
    if (kind == reduction::sum) return static_cast<T>(a + b);
    if (kind == reduction::product) return static_cast<T>(a * b);
    return kind == reduction::max ? std::max(a, b) : std::min(a, b);
  };
  for (int k = 0; k < reduction_count; ++k) {
    const auto kind = static_cast<reduction>(k);
    for (std::size_t i = 0; i < target.size(); ++i)
      target[i] = expected[i] = static_cast<T>(static_cast<int>(i % 5) - 1);
    for (index_t i = 0; i < size; ++i) {
      T& into = expected[static_cast<std::size_t>(offset(extents, to, i))];
      into = reduce(kind, into, source[static_cast<std::size_t>(offset(extents, from, i))]);
    }
    reduce_block<T>(kind, {source.data(), extents, from}, {target.data(), extents, to});
    if (target != expected) REQUIRE(target == expected);
  }
}

template <class T>
void check_all() {
  const extents_t shapes[] = {{},        {1},         {5},          {0, 3},     {3, 0},
                              {3, 5},    {40, 33},    {64, 64},     {1, 70},    {2, 3, 4},
                              {3, 1, 5}, {17, 2, 33}, {2, 3, 2, 3}, {16, 32, 2}};
  for (const extents_t& extents : shapes) {
    std::vector<int> from(extents.size());
    std::iota(from.begin(), from.end(), 0);
    do {
      std::vector<int> to(extents.size());
      std::iota(to.begin(), to.end(), 0);
      do {
        check_copy<T>(extents, strides_of(extents, from, 1), strides_of(extents, to, 1));
        check_copy<T>(extents, strides_of(extents, from, 3), strides_of(extents, to, 1));
        check_copy<T>(extents, strides_of(extents, from, 1), strides_of(extents, to, 3));
      } while (std::next_permutation(to.begin(), to.end()));
      for (int d = 0; d < extents.ssize(); ++d) {
        extents_t repeats = strides_of(extents, from, 1);
        repeats[d] = 0;
        check_copy<T>(extents, repeats, row_major(extents));
      }
    } while (std::next_permutation(from.begin(), from.end()));
  }
}

}  // namespace

TEST_CASE("blocks are copied and reduced whatever the strides") {
  check_all<float>();
  check_all<double>();
  check_all<std::int32_t>();
  check_all<std::int64_t>();
}

TEST_CASE("a reduction propagates NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (reduction kind : {reduction::max, reduction::min, reduction::sum, reduction::product}) {
    std::vector<float> into{1, nan, 1, 2};
    const std::vector<float> from{nan, 1, 2, 1};
    reduce_block<float>(kind, {from.data(), {4}, {1}}, {into.data(), {4}, {1}});
    CHECK(std::isnan(into[0]));
    CHECK(std::isnan(into[1]));
    CHECK(!std::isnan(into[2]));
  }
}

TEST_CASE("a block is filled where it lies and nowhere else") {
  std::vector<std::int32_t> grid(12, 0);
  fill_block(7, strided<std::int32_t>{grid.data() + 1, {2, 2}, {6, 2}});
  CHECK(grid == std::vector<std::int32_t>{0, 7, 0, 7, 0, 0, 0, 7, 0, 7, 0, 0});
  fill_block(7, strided<std::int32_t>{grid.data(), {0}, {1}});
}
