// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/pool_pairs.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace shardwise;
using namespace shardwise::detail;

namespace {

/// All windows inside a block; along its last two dimensions the elements of a window are `apart`.
window_walk walk_of(const index_t (&have)[3], const index_t (&size)[3], const index_t (&stride)[3],
                    index_t apart = 1) {
  window_walk walk;
  for (int d = 0; d < 3; ++d) {
    const index_t extent = d == 1 ? apart : 1;
    walk.have[d] = have[d];
    walk.size[d] = size[d];
    walk.numbers[d].stride = stride[d];
    walk.numbers[d].extent = extent;
    walk.count[d] = (have[d] - (size[d] - 1) * extent - 1) / stride[d] + 1;
  }
  walk.step[0] = have[1] * have[2];
  walk.step[1] = have[2];
  walk.step[2] = 1;
  return walk;
}

/// Reduces windows element by element, the last dimension last, which rounding depends on.
template <class Function, class C>
std::vector<C> reduced(const window_walk& walk, const std::vector<C>& x) {
  std::vector<C> out;
  for (index_t i = 0; i < walk.count[0]; ++i)
    for (index_t j = 0; j < walk.count[1]; ++j)
      for (index_t p = 0; p < walk.count[2]; ++p) {
        C whole{};
        for (index_t c = 0; c < walk.size[2]; ++c) {
          C column{};
          for (index_t a = 0; a < walk.size[0]; ++a)
            for (index_t b = 0; b < walk.size[1]; ++b) {
              const C next = x[static_cast<std::size_t>(walk.index_at(0, i, a) * walk.step[0] +
                                                        walk.index_at(1, j, b) * walk.step[1] +
                                                        walk.index_at(2, p, c))];
              column = a + b == 0 ? next : kernel<Function>::run(column, next);
            }
          whole = c == 0 ? column : kernel<Function>::run(whole, column);
        }
        out.push_back(whole);
      }
  return out;
}

template <class Function, class C>
void check(reduction kind, const window_walk& walk, std::vector<C> x) {
  const auto pairs = find_pairs(walk);
  REQUIRE(pairs);
  std::vector<C> out(static_cast<std::size_t>(walk.positions()));
  reduce_pairs<C>(kind, *pairs, x.data(), out.data());
  const std::vector<C> want = reduced<Function>(walk, x);
  index_t wrong = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    wrong += out[i] == want[i] || (out[i] != out[i] && want[i] != want[i]) ? 0 : 1;
  CAPTURE(walk.have[0], walk.have[1], walk.have[2], walk.size[0], walk.size[1]);
  CHECK(wrong == 0);
}

template <class C>
std::vector<C> numbers(const window_walk& walk) {
  std::vector<C> all;
  for (index_t i = 0; i < walk.have[0] * walk.have[1] * walk.have[2]; ++i)
    all.push_back(static_cast<C>(i * 7919 % 101) / C{3});
  return all;
}

template <class C>
void check_sizes() {
  for (const index_t width : {2, 3, 16, 31, 32, 33, 64, 97}) {
    const window_walk walks[]{walk_of({1, 1, width}, {1, 1, 2}, {1, 1, 2}),
                              walk_of({1, 7, width}, {1, 2, 2}, {1, 2, 2}),
                              walk_of({1, 7, width}, {1, 3, 2}, {1, 1, 2}, 2),
                              walk_of({5, 4, width}, {2, 3, 2}, {2, 1, 2})};
    for (const window_walk& walk : walks) {
      const std::vector<C> x = numbers<C>(walk);
      check<functions::add>(reduction::sum, walk, x);
      check<functions::multiply>(reduction::product, walk, x);
      check<functions::maximum>(reduction::max, walk, x);
      check<functions::minimum>(reduction::min, walk, x);
    }
  }
}

}  // namespace

TEST_CASE("Pairs of columns are reduced as windows element by element, to the bit") {
  check_sizes<float>();
  check_sizes<double>();
  check_sizes<std::int32_t>();
  check_sizes<std::int64_t>();
}

TEST_CASE("NaN in any element of a window is what the window gives") {
  const window_walk walk = walk_of({1, 2, 72}, {1, 2, 2}, {1, 2, 2});
  for (std::size_t at = 0; at < 144; ++at) {
    std::vector<float> x = numbers<float>(walk);
    x[at] = std::numeric_limits<float>::quiet_NaN();
    check<functions::maximum>(reduction::max, walk, x);
    check<functions::minimum>(reduction::min, walk, x);
    std::vector<float> out(36);
    reduce_pairs<float>(reduction::max, *find_pairs(walk), x.data(), out.data());
    CHECK(std::isnan(out[at % 72 / 2]));
  }
}

TEST_CASE("Windows that overlap along the last dimension, or reach into padding, are no pairs") {
  CHECK_FALSE(find_pairs(walk_of({1, 8, 8}, {1, 2, 2}, {1, 2, 1})));
  CHECK_FALSE(find_pairs(walk_of({1, 8, 9}, {1, 2, 3}, {1, 2, 3})));
  CHECK_FALSE(find_pairs(walk_of({1, 8, 9}, {1, 2, 2}, {1, 2, 3})));
  CHECK_FALSE(find_pairs(walk_of({8, 8, 8}, {4, 5, 2}, {1, 1, 2})));
  for (const int d : {1, 2}) {
    window_walk padded = walk_of({1, 8, 8}, {1, 2, 2}, {1, 2, 2});
    padded.numbers[d].low = 1;
    CHECK_FALSE(find_pairs(padded));
    window_walk beyond = walk_of({1, 7, 7}, {1, 2, 2}, {1, 2, 2});
    ++beyond.count[d];
    CHECK_FALSE(find_pairs(beyond));
  }
}
