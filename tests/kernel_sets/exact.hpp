// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "checks.hpp"

#include <algorithm>

/// The functions that IEEE arithmetic gives exactly: their bits are written down here once, so that
/// instruction sets that have them agree with each other.
namespace kernel_sets {

namespace g = shardwise::functions;

/// What arithmetic makes of one NaN: the same, which no longer signals.
template <class T>
[[nodiscard]] T quiet(T nan) {
  return std::bit_cast<T>(bits(nan) | bits_of<T>{1} << (std::numeric_limits<T>::digits - 2));
}

/// Compares a packet of results, and as many on scalars, with `expected(a, b, c)`. Where several
/// operands are NaN, `chosen` functions give one of them.
template <class F, class T, int Operands, class Expected>
void check_bits(bool chosen, Expected expected) {
  static const std::vector<T> all = numbers<T>(100);
  constexpr std::size_t width = lanes<T>;
  T a[width], b[width], c[width], out[width];
  const auto same = [&](T result, std::size_t i) {
    const int nans = is_nan(a[i]) + (Operands > 1 && is_nan(b[i]));
    const T value = expected(a[i], b[i], c[i]);
    if (bits(result) == bits(value)) return;
    if (chosen && nans > 1 && is_nan(result) && is_nan(value)) return;
    // Compilers may multiply unchanged values by 1, which makes a signalling NaN quiet.
    if (chosen && is_nan(result) && is_nan(value) && bits(quiet(result)) == bits(quiet(value)))
      return;
    // The sign of a NaN that arithmetic creates depends on the machine.
    if (chosen && nans == 0 && is_nan(result) && is_nan(value)) return;
    fail("bits", F::symbol.data(), a[i], b[i], c[i], result, value);
  };
  std::size_t pending = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < (Operands > 1 ? all.size() : width); ++j) {
      a[pending] = all[i];
      b[pending] = all[j % all.size()];
      c[pending] = all[(i + 3 * j) % all.size()];
      if (++pending < width) continue;
      pending = 0;
      if constexpr (Operands == 1)
        run_packet<F, T>(out, a);
      else if constexpr (Operands == 2)
        run_packet<F, T>(out, a, b);
      else
        run_packet<F, T>(out, a, b, c);
      for (std::size_t k = 0; k < width; ++k) {
        same(out[k], k);
        if constexpr (Operands == 1)
          same(shardwise::kernel<F>::run(a[k]), k);
        else if constexpr (Operands == 2)
          same(shardwise::kernel<F>::run(a[k], b[k]), k);
        else
          same(shardwise::kernel<F>::run(a[k], b[k], c[k]), k);
      }
    }
}

/// All of them, for one type.
template <class T>
void check_exact() {
  const bits_of<T> sign = bits(T(-0.0));
  const auto either = [](T a, T b) { return std::bit_cast<T>(bits(a) | bits(b)); };
  const auto arithmetic = [](auto f) {
    return [f](T a, T b, T) { return is_nan(a) ? quiet(a) : is_nan(b) ? quiet(b) : f(a, b); };
  };
  const auto comparison = [](auto f) { return [f](T a, T b, T) { return f(a, b) ? T(1) : T(0); }; };
  check_bits<g::identity, T, 1>(false, [](T a, T, T) { return a; });
  check_bits<g::negate, T, 1>(false, [=](T a, T, T) { return std::bit_cast<T>(bits(a) ^ sign); });
  check_bits<g::abs, T, 1>(
      false, [=](T a, T, T) { return std::bit_cast<T>(bits(a) & static_cast<bits_of<T>>(~sign)); });
  check_bits<g::relu, T, 1>(false, [](T a, T, T) { return a < 0 ? T(0) : a; });
  check_bits<g::sqrt, T, 1>(true, [](T a, T, T) { return is_nan(a) ? quiet(a) : std::sqrt(a); });
  check_bits<g::square, T, 1>(true, [](T a, T, T) { return is_nan(a) ? quiet(a) : a * a; });
  check_bits<g::add, T, 2>(true, arithmetic([](T a, T b) { return a + b; }));
  check_bits<g::subtract, T, 2>(true, arithmetic([](T a, T b) { return a - b; }));
  check_bits<g::multiply, T, 2>(true, arithmetic([](T a, T b) { return a * b; }));
  check_bits<g::divide, T, 2>(true, arithmetic([](T a, T b) { return a / b; }));
  // For equal operands and NaN the bits of both operands are combined, so zeros of both signs give
  // -0.
  check_bits<g::maximum, T, 2>(false, [=](T a, T b, T) {
    return is_nan(a) || is_nan(b) || a == b ? either(a, b) : a < b ? b : a;
  });
  check_bits<g::minimum, T, 2>(false, [=](T a, T b, T) {
    return is_nan(a) || is_nan(b) || a == b ? either(a, b) : b < a ? b : a;
  });
  check_bits<g::equal, T, 2>(false, comparison([](T a, T b) { return a == b; }));
  check_bits<g::not_equal, T, 2>(false, comparison([](T a, T b) { return a != b; }));
  check_bits<g::less, T, 2>(false, comparison([](T a, T b) { return a < b; }));
  check_bits<g::less_equal, T, 2>(false, comparison([](T a, T b) { return a <= b; }));
  check_bits<g::greater, T, 2>(false, comparison([](T a, T b) { return a > b; }));
  check_bits<g::greater_equal, T, 2>(false, comparison([](T a, T b) { return a >= b; }));
  check_bits<g::reciprocal, T, 1>(true, [](T a, T, T) { return is_nan(a) ? quiet(a) : 1 / a; });
  check_bits<g::sign, T, 1>(true, [](T a, T, T) {
    return is_nan(a) ? a : a > 0 ? T(1) : a < 0 ? T(-1) : T(0);
  });
  check_bits<g::soft_sign, T, 1>(true, [=](T a, T, T) {
    constexpr T most = std::numeric_limits<T>::max();
    if (is_nan(a)) return quiet(either(either(a, -most), most));
    const T finite = std::clamp(a, -most, most);
    return finite / (std::abs(finite) + 1);
  });
  check_bits<g::leaky_relu, T, 2>(
      true, [](T a, T b, T) { return a < 0 ? is_nan(b) ? quiet(b) : b * a : a; });
  check_bits<g::where, T, 3>(false, [](T a, T b, T c) { return a == 0 ? c : b; });
}

}  // namespace kernel_sets
