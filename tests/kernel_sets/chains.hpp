// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "checks.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"

#include <cstring>
#include <utility>

/// A fused tree in one pass has the bits of its functions one by one.
namespace kernel_sets {

namespace g = shardwise::functions;
namespace fused = shardwise::fused;

template <class F, class... A>
using f = fused::call<F, A...>;
using x = fused::argument<0>;
using y = fused::argument<1>;
using z = fused::argument<2>;

/// A tree of any depth, one function at a time.
template <class T>
struct one_by_one {
  using numbers = std::vector<T>;
  const numbers (&in)[3];

  template <std::size_t I>
  [[nodiscard]] numbers operator()(fused::argument<I>) const {
    return in[I];
  }
  template <class F, class... A>
  [[nodiscard]] numbers operator()(const f<F, A...>&) const {
    return apply<F>(std::index_sequence_for<A...>{}, (*this)(A{})...);
  }

 private:
  template <class F, std::size_t... I, class... Numbers>
  [[nodiscard]] numbers apply(std::index_sequence<I...>, const Numbers&... operands) const {
    using shardwise::strided;
    numbers out(in[0].size());
    const auto n = static_cast<shardwise::index_t>(out.size());
    const strided<const T> views[]{strided<const T>{operands.data(), {n}, {1}}...};
    shardwise::run_pointwise<T>(f<F, fused::argument<I>...>{}, views,
                                strided<T>{out.data(), {n}, {1}});
    return out;
  }
};

/// The bits of a tree in one pass against those of its functions one by one.
template <class T, class Tree>
void check_chain(const char* name) {
  using shardwise::strided;
  static const auto in = [] {
    struct {
      std::vector<T> numbers[3];
    } made;
    std::mt19937_64 random(5);
    for (auto& operand : made.numbers)
      for (int i = 0; i < 4111; ++i) {
        const auto thousandths = static_cast<double>(random() % 8000001) * 1e-6;
        operand.push_back(std::is_integral_v<T> ? static_cast<T>(random())
                                                : static_cast<T>(thousandths - 4));
      }
    return made;
  }();
  const auto n = static_cast<shardwise::index_t>(in.numbers[0].size());
  std::vector<T> out(in.numbers[0].size());
  const strided<const T> views[]{{in.numbers[0].data(), {n}, {1}},
                                 {in.numbers[1].data(), {n}, {1}},
                                 {in.numbers[2].data(), {n}, {1}}};
  shardwise::run_pointwise<T>(Tree{}, views, strided<T>{out.data(), {n}, {1}});
  const std::vector<T> expected = one_by_one<T>{in.numbers}(Tree{});
  int different = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::memcmp(&out[i], &expected[i], sizeof(T)) != 0 &&
        !(is_nan(out[i]) && is_nan(expected[i])))
      ++different;
  if (different > 0) fail("elements with other bits in one pass", name, different);
}

/// Chains of functions that every type has.
template <class T>
void check_chains() {
  using product = f<g::multiply, x, y>;
  check_chain<T, f<g::add, product, z>>("x * y + z");
  check_chain<T, f<g::add, z, product>>("z + x * y");
  check_chain<T, f<g::subtract, product, z>>("x * y - z");
  check_chain<T, f<g::subtract, z, product>>("z - x * y");
  check_chain<T, f<g::add, f<g::square, x>, f<g::square, y>>>("x^2 + y^2");
  check_chain<T, f<g::add, f<g::negate, product>, z>>("-(x * y) + z");
  check_chain<T, f<g::multiply, f<g::relu, f<g::add, product, z>>, y>>("relu(x * y + z) * y");
  check_chain<T, f<g::add, f<g::where, z, product, x>, y>>("where(z, x * y, x) + y");
  check_chain<T, f<g::subtract, f<g::abs, product>, f<g::maximum, product, z>>>(
      "|xy| - max(xy, z)");
}

/// Those of fractions.
template <class T>
void check_fractional_chains() {
  using product = f<g::multiply, x, y>;
  using sum = f<g::add, product, z>;
  check_chain<T, f<g::exp, f<g::negate, f<g::square, x>>>>("exp(-x^2)");
  check_chain<T, f<g::exp, sum>>("exp(x * y + z)");
  check_chain<T, f<g::add, f<g::exp, product>, z>>("exp(x * y) + z");
  check_chain<T, f<g::log, f<g::add, f<g::square, x>, f<g::square, y>>>>("log(x^2 + y^2)");
  check_chain<T, f<g::add, f<g::tanh, sum>, y>>("tanh(x * y + z) + y");
  check_chain<T, f<g::add, f<g::gelu, sum>, product>>("gelu(x * y + z) + x * y");
  check_chain<T, f<g::add, f<g::gelu, x>, f<g::square, x>>>("gelu(x) + x^2");
  check_chain<T, f<g::add, f<g::tanh, x>, f<g::square, x>>>("tanh(x) + x^2");
  check_chain<T, f<g::subtract, z, f<g::sigmoid, product>>>("z - sigmoid(x * y)");
  check_chain<T, f<g::add, f<g::sqrt, f<g::square, x>>, product>>("sqrt(x^2) + x * y");
}

}  // namespace kernel_sets
