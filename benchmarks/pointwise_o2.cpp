// SPDX-License-Identifier: BSL-1.0
// Built with plain -O2 and no -march: what a user gets who sets nothing.
#include "harness.hpp"
#include <shardwise/shardwise.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace shardwise;

namespace {

struct one : mesh<axis<"data", 1>> {};
constexpr index_t n = 10000;
using V = sharded_tensor<float, extents<dyn>, layout<one, P<"data">>>;

#if defined(__x86_64__)
/// The same written out: what the machine's caches give to five streams, whatever the arithmetic.
[[gnu::target("avx2")]] void written_out(const float* a, const float* b, const float* c,
                                         const float* d, float* out) {
  const __m256 zero = _mm256_setzero_ps();
  for (index_t i = 0; i < n; i += 8) {
    const __m256 product = _mm256_mul_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i));
    const __m256 sum = _mm256_add_ps(product, _mm256_loadu_ps(c + i));
    _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_max_ps(zero, sum), _mm256_loadu_ps(d + i)));
  }
}

/// The operands read and added up, nothing else: the rate at which they arrive.
[[gnu::target("avx2")]] float read_alone(const float* a, const float* b, const float* c,
                                         const float* d) {
  __m256 w = _mm256_setzero_ps(), x = w, y = w, z = w;
  for (index_t i = 0; i < n; i += 8) {
    w = _mm256_add_ps(w, _mm256_loadu_ps(a + i));
    x = _mm256_add_ps(x, _mm256_loadu_ps(b + i));
    y = _mm256_add_ps(y, _mm256_loadu_ps(c + i));
    z = _mm256_add_ps(z, _mm256_loadu_ps(d + i));
  }
  return _mm256_cvtss_f32(_mm256_add_ps(_mm256_add_ps(w, x), _mm256_add_ps(y, z)));
}
#endif

std::vector<bench::row> rows() {
  std::vector<bench::row> all;
  struct operands {
    device_pool pool{one{}, 1};
    V a = normal<V>(pool, random_key{1}, n), b = normal<V>(pool, random_key{2}, n),
      c = normal<V>(pool, random_key{3}, n), d = normal<V>(pool, random_key{4}, n);
    std::vector<float> out = std::vector<float>(n), from = std::vector<float>(5 * n / 2, 1.0F),
                       to = std::vector<float>(5 * n / 2);
  };
  const auto x = std::make_shared<operands>();
  const auto copy_of = [x](index_t count) {
    return [x, count] {
      std::memcpy(x->to.data(), x->from.data(), static_cast<std::size_t>(count) * sizeof(float));
      bench::keep(x->to);
    };
  };
  const auto kernel = [x] {
    using namespace fused;
    using tree = fused::call<
        functions::multiply,
        fused::call<
            functions::relu,
            fused::call<functions::add, fused::call<functions::multiply, argument<0>, argument<1>>,
                        argument<2>>>,
        argument<3>>;
    const auto view = [](const V& v) {
      return strided<const float>{v.share()->data<float>(0), {n}, {1}};
    };
    const strided<const float> in[4]{view(x->a), view(x->b), view(x->c), view(x->d)};
    run_pointwise(tree{}, in, strided<float>{x->out.data(), {n}, {1}});
    bench::keep(x->out);
  };
  const auto expression = [x] {
    const V y = relu(x->a * x->b + x->c) * x->d;
    sync(y);
    bench::keep(y);
  };
  // 20 bytes an element (four reads and a write) against memcpy's 8. A copy of n elements works on
  // 80 KB, of which the first-level cache holds a good part, the chain on 200 KB, which come from
  // the second: a copy of as many bytes shows how much of the distance is the caches'.
  const char* const per_second = "memcpy of n, per byte";
  const char* const same_bytes = "memcpy of as many bytes";
  const std::string fused_row = "-O2: fused kernel relu(a*b+c)*d, n=10000";
  const std::string expression_row = "-O2: the same as an expression, n=10000";
  all.push_back({fused_row, per_second, kernel, copy_of(n), 20.0 / 8.0, 0.8});
  all.push_back({fused_row, same_bytes, kernel, copy_of(5 * n / 2), 1, 0.8});
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    const auto data = [](const V& v) { return v.share()->data<float>(0); };
    all.push_back({fused_row, "the same written out, AVX2", kernel,
                   [x, data] {
                     written_out(data(x->a), data(x->b), data(x->c), data(x->d), x->out.data());
                     bench::keep(x->out);
                   },
                   1, 0.95});
    all.push_back(
        {fused_row, "reading alone, per byte", kernel,
         [x, data] { bench::keep(read_alone(data(x->a), data(x->b), data(x->c), data(x->d))); },
         20.0 / 16.0, 0.9});
  }
#endif
  all.push_back({expression_row, per_second, expression, copy_of(n), 20.0 / 8.0, 0.8});
  all.push_back({expression_row, same_bytes, expression, copy_of(5 * n / 2), 1, 0.8});
  return all;
}

/// Passes of tensors without types, which are interpreted, beside the same passes compiled; and a
/// pass that spells tanh twice, compiled from its type as it is and with the branch shared.
std::vector<bench::row> interpreted_rows() {
  std::vector<bench::row> all;
  const auto chain = [](const auto& a, const auto& b, const auto& c, const auto& d) {
    return relu(a * b + c) * d;
  };
  const auto two_branches = [](const auto& a, const auto& b, const auto& c, const auto& d) {
    return relu(square(a - b) + a * c - 2.0F) + d;
  };
  for (const index_t size : {index_t{1000000}, index_t{16000000}}) {
    struct operands {
      explicit operands(index_t count)
          : a(normal<V>(pool, random_key{1}, count)),
            b(normal<V>(pool, random_key{2}, count)),
            c(normal<V>(pool, random_key{3}, count)),
            d(normal<V>(pool, random_key{4}, count)) {}
      device_pool pool{one{}, 1};
      V a, b, c, d;
      any_tensor<float> ua = a, ub = b, uc = c, ud = d;
    };
    const auto x = std::make_shared<operands>(size);
    const auto add = [&](const char* name, const auto& f) {
      all.push_back({std::string("-O2: interpreted ") + name + ", n=" + std::to_string(size),
                     "compiled",
                     [x, f] {
                       const any_tensor<float> y = f(x->ua, x->ub, x->uc, x->ud);
                       sync(y);
                       bench::keep(y);
                     },
                     [x, f] {
                       const V y = f(x->a, x->b, x->c, x->d);
                       sync(y);
                       bench::keep(y);
                     },
                     1, 1 / 1.3});
    };
    add("relu(a*b+c)*d", chain);
    add("relu((a-b)^2+a*c-2)+d", two_branches);
  }
  return all;
}

const bench::add interpreted(interpreted_rows);

/// The gradient of gelu at `x` times `g`, where the tanh of the same value is spelled twice: the
/// kernel that shares it beside the one that computes both.
std::vector<bench::row> shared_rows() {
  using namespace fused;
  namespace f = functions;
  using x = argument<0>;
  using g = argument<1>;
  using number = constant<float>;
  using inner = fused::call<
      f::multiply,
      fused::call<
          f::add, x,
          fused::call<f::multiply, fused::call<f::multiply, fused::call<f::square, x>, x>, number>>,
      number>;
  using bent = fused::call<f::tanh, inner>;
  using left = fused::call<f::multiply, fused::call<f::add, bent, number>, number>;
  using slope = fused::call<
      f::multiply,
      fused::call<f::add, fused::call<f::multiply, fused::call<f::square, x>, number>, number>,
      number>;
  using right =
      fused::call<f::multiply,
                  fused::call<f::multiply, fused::call<f::multiply, x, number>,
                              fused::call<f::subtract, number, fused::call<f::square, bent>>>,
                  slope>;
  using tree = fused::call<f::multiply, g, fused::call<f::add, left, right>>;

  const inner u{{{}, {{{{}}, {}}, {0.044715F}}}, {0.79788456F}};
  const tree whole{{},
                   {{{{u}, {1}}, {0.5F}},
                    {{{{}, {0.5F}}, {{1}, {{u}}}}, {{{{{}}, {0.134145F}}, {1}}, {0.79788456F}}}}};
  struct operands {
    std::vector<float> in = std::vector<float>(n, 0.5F), out = std::vector<float>(n);
  };
  const auto at = std::make_shared<operands>();
  const auto run = [at](const auto& any_tree) {
    const strided<const float> read{at->in.data(), {n}, {1}};
    const strided<const float> both[2]{read, read};
    run_pointwise(any_tree, both, strided<float>{at->out.data(), {n}, {1}});
    bench::keep(at->out);
  };
  return {{"-O2: gelu's gradient, tanh shared, n=10000", "tanh twice",
           [run, whole] {
             const int nodes[2]{0, 1};
             (void)with_shared_branch<2>(whole, nodes, run);
           },
           [run, whole] { run(whole); }, 1, 2}};
}

const bench::add shared(shared_rows);

const bench::add here(rows);

}  // namespace
