// SPDX-License-Identifier: BSL-1.0
#include "shardwise/kernel/line_order.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace shardwise;

namespace {

/// The positions of all elements in descending order, NaN last, equal ones in their order.
template <class T>
std::vector<std::uint32_t> in_descending_order(const std::vector<T>& line) {
  std::vector<std::uint32_t> out(line.size());
  std::iota(out.begin(), out.end(), 0U);
  std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    const bool is_last = line[a] != line[a];
    return !is_last && (line[a] > line[b] || line[b] != line[b]);
  });
  return out;
}

template <class T>
void check_greatest(const std::vector<T>& line) {
  const auto n = static_cast<index_t>(line.size());
  const auto expected = in_descending_order(line);
  detail::line_order<detail::order_key<T>> order;
  for (index_t count : {1, 2, 7, 32, 33, 100, 511, 513, 2000}) {
    if (count > n) break;
    const auto& found =
        order.greatest(n, count, [&](index_t i) { return line[static_cast<std::size_t>(i)]; });
    REQUIRE(std::equal(found.begin(), found.end(), expected.begin(), expected.begin() + count,
                       [](const auto& entry, std::uint32_t at) { return entry.at == at; }));
  }
}

}  // namespace

TEST_CASE("the largest elements are those that a stable sort puts first") {
  std::mt19937 bits(1);
  for (int n : {1, 31, 64, 65, 129, 1000, 5000, 40000}) {
    std::vector<float> line(static_cast<std::size_t>(n));
    std::vector<std::int64_t> integers(line.size());
    // Without ties, with many, ascending, and with NaN, infinities and both zeros among few values.
    std::normal_distribution<float> normal;
    for (float& x : line) x = normal(bits);
    check_greatest(line);
    for (std::size_t i = 0; i < line.size(); ++i)
      line[i] = static_cast<float>(integers[i] = static_cast<std::int64_t>(bits() % 9) - 4);
    check_greatest(line);
    check_greatest(integers);
    std::sort(line.begin(), line.end());
    check_greatest(line);
    constexpr float inf = std::numeric_limits<float>::infinity();
    constexpr float some[] = {0.0F, -0.0F, inf,
                              -inf, 1.0F,  std::numeric_limits<float>::quiet_NaN()};
    for (float& x : line) x = some[bits() % 6];
    check_greatest(line);
    std::fill(line.begin(), line.end(), some[5]);
    check_greatest(line);
  }
}
