// SPDX-License-Identifier: BSL-1.0
// Sums of windows in rows of any length, with gaps and paddings, beside their definition.
#include "shardwise/kernel/window_sums.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <vector>

using namespace shardwise;

namespace {

/// Windows along the last two dimensions of a block.
detail::window_walk walk_of(index_t rows, index_t columns, const window_numbers& how) {
  detail::window_walk walk;
  walk.size[1] = 2;
  walk.size[2] = 3;
  walk.have[1] = rows;
  walk.have[2] = columns;
  walk.step[1] = columns;
  walk.step[2] = 1;
  for (int d = 1; d < 3; ++d) {
    walk.numbers[d] = how;
    const index_t spread = (walk.have[d] - 1) * how.spacing + 1 + 2 * how.low;
    const index_t reach = (walk.size[d] - 1) * how.extent + 1;
    walk.count[d] = spread < reach ? 0 : (spread - reach) / how.stride + 1;
  }
  return walk;
}

template <class C>
void check_sums(index_t columns, const window_numbers& how) {
  const index_t rows = 5;
  const detail::window_walk walk = walk_of(rows, columns, how);
  std::vector<C> from;
  for (index_t i = 0; i < rows * columns; ++i) from.push_back(static_cast<C>(i % 23 - 11));
  const std::vector<C> weights{1, -2, 3, 5, 7, -4};
  std::vector<C> out(static_cast<std::size_t>(walk.positions()) + 1, C{99});
  detail::window_sums<C>(walk).run(weights.data(), from.data(), out.data());
  index_t wrong = out.back() == C{99} ? 0 : 1;
  std::size_t at = 0;
  for (index_t i = 0; i < walk.count[1]; ++i)
    for (index_t j = 0; j < walk.count[2]; ++j, ++at) {
      C sum{};
      for (index_t k = 0; k < 2; ++k)
        for (index_t l = 0; l < 3; ++l) {
          const index_t a = walk.index_at(1, i, k), b = walk.index_at(2, j, l);
          if (a >= 0 && b >= 0)
            sum += weights[static_cast<std::size_t>(3 * k + l)] *
                   from[static_cast<std::size_t>(a * columns + b)];
        }
      wrong += out[at] == sum ? 0 : 1;
    }
  CAPTURE(columns, how.stride, how.low, how.extent, how.spacing, sizeof(C));
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("windows in rows of any length are summed") {
  const window_numbers hows[]{{.stride = 1, .low = 0, .extent = 1, .spacing = 1},
                              {.stride = 1, .low = 1, .extent = 1, .spacing = 1},
                              {.stride = 1, .low = 4, .extent = 2, .spacing = 1},
                              {.stride = 2, .low = 1, .extent = 1, .spacing = 1},
                              {.stride = 1, .low = 2, .extent = 1, .spacing = 2},
                              {.stride = 3, .low = 1, .extent = 2, .spacing = 2}};
  for (const window_numbers& how : hows)
    for (const index_t columns : {1, 2, 3, 7, 16, 17, 18, 33, 34, 62, 66, 67, 140}) {
      check_sums<float>(columns, how);
      check_sums<double>(columns, how);
      check_sums<std::int32_t>(columns, how);
    }
}
