// SPDX-License-Identifier: BSL-1.0
#include "chains.hpp"
#include "errors.hpp"
#include "exact.hpp"
#include "narrow.hpp"
#include "pairs.hpp"
#include "standard.hpp"

#include <algorithm>

using namespace kernel_sets;

namespace {

/// The errors that `transcendental_kernels.hpp` states, in ulp.
template <class T>
void check_errors() {
  using real = long double;
  constexpr bool narrow = sizeof(T) == 4;
  const auto of_value = [](auto f) {
    return [f](real v) {
      const real value = f(v);
      return expected{value, value};
    };
  };
  const auto sigmoid = [](real v) { return 1 / (1 + std::exp(-v)); };
  const auto gelu = [sigmoid](real v) {
    const real value =
        std::isinf(v)
            ? (v > 0 ? v : -0.0L)
            : v * sigmoid(2 * 0.797884560802865355879892119869L * (v + 0.044715L * v * v * v));
    return expected{value, v};
  };
  check_error<g::exp, T>(narrow ? 1.5 : 1.75, of_value([](real v) { return std::exp(v); }));
  check_error<g::log, T>(narrow ? 1.25 : 1.75, of_value([](real v) { return std::log(v); }));
  check_error<g::tanh, T>(narrow ? 6 : 1.5, of_value([](real v) { return std::tanh(v); }));
  check_error<g::sigmoid, T>(narrow ? 3 : 2.5, of_value(sigmoid));
  check_error<g::gelu, T>(narrow ? 3.5 : 2.5, gelu);
  check_error<g::rsqrt, T>(1.5, of_value([](real v) { return 1 / std::sqrt(v); }));
  check_error<g::silu, T>(3.5, [sigmoid](real v) {
    return expected{std::isinf(v) ? (v > 0 ? v : -0.0L) : v * sigmoid(v), v};
  });
  check_error<g::mish, T>(3.5, [](real v) {
    return expected{std::isinf(v) ? (v > 0 ? v : -0.0L) : v * std::tanh(std::log1p(std::exp(v))),
                    v};
  });
}

/// What functions never exceed, and where exp ends.
template <class T>
void check_ends() {
  using limits = std::numeric_limits<T>;
  T in[lanes<T>], out[lanes<T>];
  const auto of = [&]<class F>(F, T number) {
    std::fill_n(in, lanes<T>, number);
    run_packet<F, T>(out, in);
    return out[0];
  };
  for (T v = T(0.5); v < T(30); v += T(0.001)) {
    if (!(std::abs(of(g::tanh{}, -v)) <= 1)) fail("beyond 1", "tanh", -v);
    if (!(of(g::sigmoid{}, v) <= 1)) fail("beyond 1", "sigmoid", v);
  }
  const T last = sizeof(T) == 4 ? T(88.722831) : T(709.78271289338397);
  if (!(of(g::exp{}, last) <= limits::max())) fail("infinite", "exp", last);
  if (!(of(g::exp{}, T(last + 1)) == limits::infinity())) fail("finite", "exp", last);
  if (!(of(g::sigmoid{}, T(-last)) > 0)) fail("not positive", "sigmoid", -last);
}

}  // namespace

/// Everything, on packets of the width that this file was compiled for. The number of failures.
int check_kernels() {
  std::printf("packets of %zu bytes\n", sizeof(packet_of<float>));
  check_exact<float>();
  check_exact<double>();
  check_errors<float>();
  check_errors<double>();
  check_standard<float>();
  check_standard<double>();
  check_functions_of_two<float>();
  check_functions_of_two<double>();
  check_ends<float>();
  check_ends<double>();
  check_chains<float>();
  check_chains<double>();
  check_chains<std::int32_t>();
  check_chains<std::int64_t>();
  check_fractional_chains<float>();
  check_fractional_chains<double>();
  check_narrow<shardwise::bfloat16>("bfloat16");
  check_narrow<shardwise::float16>("float16");
  return failures;
}
