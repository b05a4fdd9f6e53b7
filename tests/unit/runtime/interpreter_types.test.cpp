// SPDX-License-Identifier: BSL-1.0
// Compiled, interpreted and replayed passes of doubles and of integers.
#include "unit/runtime/passes.hpp"

using namespace passes;

namespace {

template <class T>
void check(const device_pool& pool, index_t n) {
  const auto x = drawn<V<T>>(pool, n, 1);
  const auto y = drawn<V<T>>(pool, n, 2);
  const auto m = drawn<M<T>>(pool, n, 3);
  const auto c = drawn<C<T>>(pool, n, 4);
  const auto r = drawn<R<T>>(pool, 5, 5);
  same_everywhere<T>(
      "chain",
      [](const auto& a, const auto& b) {
        return where(a > b, relu(square(a - b) + a * b - T{2}), abs(b / a)) * T{7};
      },
      n, x, y);
  same_everywhere<T>(
      "named",
      [](const auto& a, const auto& b) {
        const auto p = a * b + T{1};
        return (p - a) * p + p;
      },
      n, x, y);
  same_everywhere<T>(
      "broadcast", [](const auto& a, const auto& b, const auto& d) { return (a + b) * d - abs(b); },
      n, m, r, c);
  same_everywhere<T>(
      "columns", [](const auto& a, const auto& b) { return sum<0>((a - b) * a); }, n, m, r);
}

}  // namespace

TEST_CASE("passes of double and of whole numbers have the same bits however they run") {
  const device_pool pool(pod{}, 2);
  for (index_t n : {0, 1, 511, 512, 513, 1026}) {
    check<std::int32_t>(pool, n);
    check<double>(pool, n);
  }
}
