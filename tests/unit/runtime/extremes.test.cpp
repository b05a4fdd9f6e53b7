// SPDX-License-Identifier: BSL-1.0
// The indices of maxima and minima along both dimensions of matrices of many sizes.
#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using namespace shardwise;

namespace {

struct line : mesh<axis<"x", 3>> {};
template <class T, class Spec>
using matrix = sharded_tensor<T, extents<dyn, dyn>, layout<line, Spec, partial<>, uneven>>;

/// Returns one of a few numbers, so that many are equal. Floating-point numbers include infinities,
/// zeros of both signs and, if `kind` is 2, NaN.
template <class T>
T number(unsigned i, int kind) {
  const unsigned drawn = (i * 2654435761U) >> 16;
  if constexpr (std::is_floating_point_v<T>) {
    if (kind == 2 && drawn % 97 == 5) return std::numeric_limits<T>::quiet_NaN();
    if (kind == 1 && drawn % 2 == 0) return -T{0};
    if (kind == 3) return -std::numeric_limits<T>::infinity();
    if (kind == 1) return T{0};
  }
  return static_cast<T>(drawn % (kind == 0 ? 1000 : 3)) - T{500};
}

template <class T>
bool comes_before(T a, T b) {
  return a > b || (a != a && b == b);
}

template <int Dim, class T, class Spec>
void check(const device_pool& pool, index_t rows, index_t columns, int kind) {
  const auto x = distribute<matrix<T, Spec>>(
      pool,
      [&](const global_index& at) {
        return number<T>(static_cast<unsigned>(at[0] * columns + at[1]), kind);
      },
      rows, columns);
  const auto [best, at] = max_with_index<Dim>(x);
  const auto values = to_host(best);
  const auto places = to_host(at);
  const index_t lines = Dim == 0 ? columns : rows, size = Dim == 0 ? rows : columns;
  index_t wrong = 0;
  for (index_t i = 0; i < lines; ++i) {
    const auto element = [&](index_t n) {
      return number<T>(static_cast<unsigned>(Dim == 0 ? n * columns + i : i * columns + n), kind);
    };
    index_t place = 0;
    for (index_t n = 1; n < size; ++n)
      if (comes_before(element(n), element(place))) place = n;
    const T want = element(place), have = values(i);
    const bool is_same = (want == have && std::signbit(static_cast<double>(want)) ==
                                              std::signbit(static_cast<double>(have))) ||
                         (want != want && have != have);
    wrong += is_same && places(i) == place ? 0 : 1;
  }
  CAPTURE(Dim, rows, columns, kind);
  CHECK(wrong == 0);
}

template <class T>
void check_sizes() {
  const device_pool pool{line{}};
  const index_t sizes[][2] = {{1, 1},   {2, 5},   {7, 64},   {3, 65},
                              {130, 3}, {5, 200}, {2, 2500}, {2500, 2}};
  for (const auto& size : sizes)
    for (int kind = 0; kind < 4; ++kind) {
      check<0, T, P<none, "x">>(pool, size[0], size[1], kind);
      check<1, T, P<"x", none>>(pool, size[0], size[1], kind);
    }
}

}  // namespace

TEST_CASE("the first of the largest elements is found, along rows and across them") {
  check_sizes<float>();
  check_sizes<double>();
  check_sizes<std::int32_t>();
  check_sizes<std::int64_t>();
}
