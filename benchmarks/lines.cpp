// SPDX-License-Identifier: BSL-1.0
// Operations along dimensions, and functions of the C library, beside the obvious loops: one thread
// and a million elements each.
#include "harness.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct one : mesh<axis<"data", 1>> {};

/// Rows of random numbers in a pool, the same on the host, and a place for what the loop makes.
template <index_t Rows, index_t Columns>
struct operands {
  using X = sharded_tensor<float, extents<Rows, Columns>, layout<one, P<"data", none>>>;
  static constexpr index_t rows = Rows, columns = Columns;

  device_pool pool{one{}, 1};
  X x = normal<X>(pool, random_key{1});
  std::vector<float> host = [this] {
    const auto made = to_host(x);
    return std::vector<float>(made.elements().begin(), made.elements().end());
  }();
  std::vector<float> out = std::vector<float>(host.size());
  std::vector<std::int64_t> places = std::vector<std::int64_t>(host.size());
};

/// A row of the table: the operation on all of the tensor, and the loop over each of its rows.
template <class Operands, class F, class Loop>
bench::row row_of(std::string name, const std::shared_ptr<Operands>& x, const F& f,
                  const Loop& loop) {
  name += ", " + std::to_string(Operands::rows) + " x " + std::to_string(Operands::columns);
  return {std::move(name),
          "the loop, one thread",
          [x, f] {
            const auto y = f(x->x);
            sync(y);
            bench::keep(y);
          },
          [x, loop] {
            for (index_t r = 0; r < Operands::rows; ++r) {
              const index_t at = r * Operands::columns;
              loop(x->host.data() + at, x->out.data() + at, x->places.data() + at,
                   Operands::columns);
            }
            bench::keep(x->out);
          },
          1,
          1};
}

template <index_t Rows, index_t Columns>
void add_rows(std::vector<bench::row>& all) {
  const auto x = std::make_shared<operands<Rows, Columns>>();
  const auto add = [&](const char* name, const auto& f, const auto& loop) {
    all.push_back(row_of(name, x, f, loop));
  };
  using places = std::int64_t*;
  add(
      "sort", [](const auto& a) { return sort<1>(a); },
      [](const float* a, float* out, places, index_t n) {
        std::copy_n(a, n, out);
        std::sort(out, out + n);
      });
  add(
      "argsort", [](const auto& a) { return argsort<1>(a); },
      [](const float* a, float*, places at, index_t n) {
        std::iota(at, at + n, std::int64_t{0});
        std::stable_sort(at, at + n, [a](auto i, auto j) { return a[i] < a[j]; });
      });
  add(
      "top_k 10", [](const auto& a) { return top_k<1, 10>(a).first; },
      [](const float* a, float* out, places, index_t n) {
        std::partial_sort_copy(a, a + n, out, out + 10, std::greater<>{});
      });
  add(
      "argmax", [](const auto& a) { return argmax<1>(a); },
      [](const float* a, float*, places at, index_t n) { *at = std::max_element(a, a + n) - a; });
  add(
      "cumsum", [](const auto& a) { return cumsum<1>(a); },
      [](const float* a, float* out, places, index_t n) { std::partial_sum(a, a + n, out); });
  add(
      "cummax", [](const auto& a) { return cummax<1>(a); },
      [](const float* a, float* out, places, index_t n) {
        std::partial_sum(a, a + n, out, [](float b, float c) { return b < c ? c : b; });
      });
  add(
      "logsumexp", [](const auto& a) { return logsumexp<1>(a); },
      [](const float* a, float* out, places, index_t n) {
        const float most = *std::max_element(a, a + n);
        float sum = 0;
        for (index_t i = 0; i < n; ++i) sum += std::exp(a[i] - most);
        *out = std::log(sum) + most;
      });
  add(
      "variance", [](const auto& a) { return variance<1>(a); },
      [](const float* a, float* out, places, index_t n) {
        float mean = 0, squares = 0;
        for (index_t i = 0; i < n; ++i) mean += a[i];
        mean /= static_cast<float>(n);
        for (index_t i = 0; i < n; ++i) squares += (a[i] - mean) * (a[i] - mean);
        *out = squares / static_cast<float>(n);
      });
  add(
      "tril", [](const auto& a) { return tril(a); },
      [](const float* a, float* out, places, index_t n) {
        for (index_t i = 0; i < n; ++i) out[i] = i < n / 2 ? a[i] : 0.0F;
      });
  add(
      "iota_like", [](const auto& a) { return iota_like<1>(a); },
      [](const float*, float*, places at, index_t n) { std::iota(at, at + n, std::int64_t{0}); });
  const auto each = [&](const char* name, const auto& f, const auto& function) {
    add(name, f, [function](const float* a, float* out, places, index_t n) {
      for (index_t i = 0; i < n; ++i) out[i] = function(a[i]);
    });
  };
  if (Rows == 1) return;
  add(
      "cumsum onto rows", [](const auto& a) { return cumsum<0>(a); },
      [](const float* a, float* out, places, index_t n) { std::partial_sum(a, a + n, out); });
  each(
      "sin", [](const auto& a) { return sin(a); }, [](float a) { return std::sin(a); });
  each(
      "erf", [](const auto& a) { return erf(a); }, [](float a) { return std::erf(a); });
  each(
      "floor", [](const auto& a) { return floor(a); }, [](float a) { return std::floor(a); });
  each(
      "round", [](const auto& a) { return round(a); }, [](float a) { return std::nearbyint(a); });
  each(
      "pow 1.5", [](const auto& a) { return pow(a, 1.5F); },
      [](float a) { return std::pow(a, 1.5F); });
  each(
      "silu", [](const auto& a) { return silu(a); },
      [](float a) { return a / (1 + std::exp(-a)); });
  each(
      "clamp", [](const auto& a) { return clamp(a, -1.0F, 1.0F); },
      [](float a) { return std::clamp(a, -1.0F, 1.0F); });
  each(
      "sign", [](const auto& a) { return sign(a); },
      [](float a) { return static_cast<float>((a > 0) - (a < 0)); });
}

std::vector<bench::row> rows() {
  std::vector<bench::row> all;
  add_rows<1000, 1000>(all);
  add_rows<1, 1000000>(all);
  return all;
}

const bench::add here(rows);

}  // namespace
