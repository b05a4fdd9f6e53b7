// SPDX-License-Identifier: BSL-1.0
// Compiled passes, passes that exist only at run time, and replayed programs have the same bits.
#include "unit/runtime/passes.hpp"

#include <utility>

using namespace passes;

namespace {

template <class T>
void check_all(const device_pool& pool, index_t n) {
  const auto x = drawn<V<T>>(pool, n, 1);
  const auto y = drawn<V<T>>(pool, n, 2);
  const auto m = drawn<M<T>>(pool, n, 3);
  const auto c = drawn<C<T>>(pool, n, 4);
  const auto r = drawn<R<T>>(pool, 5, 5);
  const auto s = drawn<S<T>>(pool, 5, 6);

  // Chains from one function to twelve.
  same_everywhere<T>(
      "one", [](const auto& a) { return -a; }, n, x);
  same_everywhere<T>(
      "three", [](const auto& a, const auto& b) { return abs(a * T{3} - b); }, n, x, y);
  same_everywhere<T>(
      "six", [](const auto& a, const auto& b) { return relu(square(a - b) + a * b - T{2}) + b; }, n,
      x, y);
  same_everywhere<T>(
      "twelve",
      [](const auto& a, const auto& b) {
        return relu(minimum(maximum(T{3} - abs(square(a + b) - b * T{5}), a), b * T{2}) + a - b) *
               T{7};
      },
      n, x, y);
  // Shared subexpressions: a temporary that is read twice, and a named one.
  same_everywhere<T>(
      "forwarded",
      [](const auto& a, const auto& b) {
        const auto twice = []<class E>(E&& e) { return std::forward<E>(e) * std::forward<E>(e); };
        return twice(a + b) - a;
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
      "chosen", [](const auto& a, const auto& b) { return where(a > b, a - b, T{2} * b) + a; }, n,
      x, y);
  // Operands that are broadcast.
  same_everywhere<T>(
      "broadcast", [](const auto& a, const auto& b, const auto& d) { return (a + b) * d - abs(b); },
      n, m, r, c);
  same_everywhere<T>(
      "repeated pass", [](const auto& a, const auto& b) { return a * square(b + T{1}); }, n, m, c);
  // Reductions with prologues, also of broadcast operands, and products with epilogues.
  same_everywhere<T>(
      "sum", [](const auto& a, const auto& b) { return sum(a * b + a); }, n, x, y);
  same_everywhere<T>(
      "columns", [](const auto& a, const auto& b) { return sum<0>((a - b) * a); }, n, m, r);
  same_everywhere<T>(
      "softmax", [](const auto& a) { return a - max<1>(a * T{2}, keep_dims); }, n, m);
  same_everywhere<T>(
      "rows", [](const auto& a, const auto& b) { return min<1>(abs(a) - b) * T{3}; }, n, m, c);
  same_everywhere<T>(
      "epilogue",
      [](const auto& a, const auto& b, const auto& d) {
        return relu(einsum<"ij,kj->ik">(a, b) + T{1}) * d;
      },
      n, m, s, r);
}

template <class T>
void check_fractions(const device_pool& pool, index_t n) {
  const auto x = drawn<V<T>>(pool, n, 1);
  const auto y = drawn<V<T>>(pool, n, 2);
  const auto m = drawn<M<T>>(pool, n, 3);
  same_everywhere<T>(
      "fractions",
      [](const auto& a, const auto& b) {
        return gelu(a) / (exp(-abs(b)) + T{1}) + tanh(b) * sigmoid(a) - log(sqrt(square(a) + T{1}));
      },
      n, x, y);
  // Branches that are equal, and branches that only look equal.
  same_everywhere<T>(
      "twice",
      [](const auto& a, const auto& b) {
        return tanh(a * b - T{2}) * (a + T{1}) - square(tanh(a * b - T{2}));
      },
      n, x, y);
  same_everywhere<T>(
      "not twice",
      [](const auto& a, const auto& b) {
        return sigmoid(a * b - T{2}) * a - sigmoid(b * a - T{2}) * exp(T{2} - a) / exp(T{-2} - a);
      },
      n, x, y);
  const auto c = drawn<C<T>>(pool, n, 4);
  same_everywhere<T>(
      "twice, repeated and reduced",
      [](const auto& a, const auto& b) { return sum<1>(gelu(a - b) * a + gelu(a - b)); }, n, m, c);
  same_everywhere<T>(
      "softmax of rows", [](const auto& a) { return exp(a) / sum<1>(exp(a), keep_dims); }, n, m);
}

}  // namespace

TEST_CASE("compiled, interpreted and replayed passes have the same bits, whatever the size") {
  const device_pool pool(pod{}, 2);
  for (index_t n : {0, 1, 2, 511, 512, 513, 1025, 5000}) {
    check_all<float>(pool, n);
    check_fractions<float>(pool, n);
  }
}
