// SPDX-License-Identifier: BSL-1.0
// Fused operations, reductions, look-ups and products over semirings beside the obvious loops: one
// thread, ten thousand and a million elements.
#include "harness.hpp"
#include <shardwise/shardwise.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct one : mesh<axis<"data", 1>> {};

/// A square of random numbers in a pool, and the same on the host.
template <index_t Side>
struct square_of {
  using X = sharded_tensor<float, extents<Side, Side>, layout<one, P<"data", none>>>;
  using I = sharded_tensor<std::int32_t, extents<Side>, layout<one, P<"data">>>;
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  device_pool pool{one{}, 1};
  X x = normal<X>(pool, random_key{1});
  sharded_tensor<float, extents<Side, Side>, layout<one, P<none, none>>> whole_x =
      reshard<P<none, none>>(x);
  std::vector<std::int32_t> rows = [] {
    std::vector<std::int32_t> all(static_cast<std::size_t>(Side));
    for (index_t i = 0; i < Side; ++i)
      all[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * 7919 % Side);
    return all;
  }();
  I index = distribute<I>(pool, rows);
  sharded_tensor<std::int32_t, extents<Side>, layout<one, P<none>>> whole_index =
      reshard<P<none>>(index);
  std::vector<std::int64_t> rows_found = std::vector<std::int64_t>(static_cast<std::size_t>(Side));
  matrix host = to_host(x);
  matrix out = matrix::Zero(Side, Side);
  std::vector<bfloat16> narrow = std::vector<bfloat16>(static_cast<std::size_t>(Side * Side));
};

template <index_t Side>
void add_rows(std::vector<bench::row>& all) {
  using operands = square_of<Side>;
  const auto x = std::make_shared<operands>();
  const auto add_beside = [&](std::string name, const char* yardstick, const auto& f,
                              const auto& peer) {
    all.push_back({std::move(name) + ", " + std::to_string(Side) + " x " + std::to_string(Side),
                   yardstick,
                   [x, f] {
                     const auto y = f(*x);
                     sync(y);
                     bench::keep(y);
                   },
                   [x, peer] {
                     peer(*x);
                     bench::keep(x->out);
                   },
                   1, 1});
  };
  const auto add = [&](std::string name, const auto& f, const auto& loop) {
    add_beside(std::move(name), "the loop, one thread", f,
               [loop](operands& held) { loop(held.host.data(), held.out.data(), held); });
  };
  constexpr index_t n = Side;
  add(
      "softmax", [](const operands& a) { return softmax<1>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r, from += n, to += n) {
          const float most = *std::max_element(from, from + n);
          float sum = 0;
          for (index_t i = 0; i < n; ++i) sum += to[i] = std::exp(from[i] - most);
          for (index_t i = 0; i < n; ++i) to[i] /= sum;
        }
      });
  add(
      "layer_norm", [](const operands& a) { return layer_norm<1>(a.x, 1e-5); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r, from += n, to += n) {
          float mean = 0, squares = 0;
          for (index_t i = 0; i < n; ++i) mean += from[i];
          mean /= static_cast<float>(n);
          for (index_t i = 0; i < n; ++i) squares += (from[i] - mean) * (from[i] - mean);
          const float scale = 1 / std::sqrt(squares / static_cast<float>(n) + 1e-5F);
          for (index_t i = 0; i < n; ++i) to[i] = (from[i] - mean) * scale;
        }
      });
  add(
      "take rows", [](const operands& a) { return take<0>(a.x, a.index); },
      [](const float* from, float* to, const operands& held) {
        for (index_t r = 0; r < n; ++r)
          std::copy_n(from + held.rows[static_cast<std::size_t>(r)] * n, n, to + r * n);
      });
  add(
      "take columns", [](const operands& a) { return take<1>(a.x, a.index); },
      [](const float* from, float* to, const operands& held) {
        for (index_t r = 0; r < n; ++r)
          for (index_t i = 0; i < n; ++i)
            to[r * n + i] = from[r * n + held.rows[static_cast<std::size_t>(i)]];
      });
  add(
      "sum of rows", [](const operands& a) { return sum<1>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r) {
          float sum = 0;
          for (index_t i = 0; i < n; ++i) sum += from[r * n + i];
          to[r] = sum;
        }
      });
  add(
      "sum onto a row", [](const operands& a) { return sum<0>(a.x); },
      [](const float* from, float* to, const operands&) {
        std::fill_n(to, n, 0.0F);
        for (index_t r = 0; r < n; ++r)
          for (index_t i = 0; i < n; ++i) to[i] += from[r * n + i];
      });
  add(
      "max of rows", [](const operands& a) { return max<1>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r) to[r] = *std::max_element(from + r * n, from + r * n + n);
      });
  add(
      "max onto a row", [](const operands& a) { return max<0>(a.x); },
      [](const float* from, float* to, const operands&) {
        std::fill_n(to, n, -std::numeric_limits<float>::infinity());
        for (index_t r = 0; r < n; ++r)
          for (index_t i = 0; i < n; ++i) {
            const float next = from[r * n + i];
            to[i] =
                next > to[i] || next != next ? next : to[i];  // a NaN is the maximum, as in NumPy
          }
      });
  add(
      "max_with_index of rows", [](const operands& a) { return max_with_index<1>(a.x).first; },
      [](const float* from, float* to, operands& held) {
        for (index_t r = 0; r < n; ++r) {
          const float* const best = std::max_element(from + r * n, from + r * n + n);
          held.rows_found[static_cast<std::size_t>(r)] = best - (from + r * n);
          to[r] = *best;
        }
      });
  add(
      "max_with_index onto a row",
      [](const operands& a) { return max_with_index<0>(a.whole_x).first; },
      [](const float* from, float* to, operands& held) {
        std::copy_n(from, n, to);
        std::fill(held.rows_found.begin(), held.rows_found.end(), 0);
        for (index_t r = 1; r < n; ++r)
          for (index_t i = 0; i < n; ++i)
            if (from[r * n + i] > to[i]) {
              to[i] = from[r * n + i];
              held.rows_found[static_cast<std::size_t>(i)] = r;
            }
      });
  add(
      "cumsum of columns", [](const operands& a) { return cumsum<0>(a.whole_x); },
      [](const float* from, float* to, const operands&) {
        std::copy_n(from, n, to);
        for (index_t r = 1; r < n; ++r)
          for (index_t i = 0; i < n; ++i) to[r * n + i] = to[r * n - n + i] + from[r * n + i];
      });
  add(
      "logcumsumexp of rows", [](const operands& a) { return logcumsumexp<1>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r) {
          float sum = -std::numeric_limits<float>::infinity();
          for (index_t i = 0; i < n; ++i) {
            const float next = from[r * n + i], least = std::min(sum, next);
            sum = std::max(sum, next);
            sum += std::log1p(std::exp(least - sum));
            to[r * n + i] = sum;
          }
        }
      });
  add(
      "segment_sum", [](const operands& a) { return segment_sum<0, n>(a.whole_x, a.whole_index); },
      [](const float* from, float* to, const operands& held) {
        std::fill_n(to, n * n, 0.0F);
        for (index_t r = 0; r < n; ++r)
          for (index_t i = 0; i < n; ++i)
            to[held.rows[static_cast<std::size_t>(r)] * n + i] += from[r * n + i];
      });
  add(
      "flip of rows", [](const operands& a) { return flip<1>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r)
          std::reverse_copy(from + r * n, from + r * n + n, to + r * n);
      });
  add(
      "flip of columns", [](const operands& a) { return flip<0>(a.whole_x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r) std::copy_n(from + (n - 1 - r) * n, n, to + r * n);
      });
  add(
      "cast to bfloat16", [](const operands& a) { return cast<bfloat16>(a.x); },
      [](const float* from, float*, operands& held) {
        std::transform(from, from + n * n, held.narrow.begin(),
                       [](float wide) { return bfloat16(wide); });
      });
  add(
      "roll of rows", [](const operands& a) { return roll<1, 3>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r)
          std::rotate_copy(from + r * n, from + r * n + n - 3, from + r * n + n, to + r * n);
      });
  add(
      "every second column",
      [](const operands& a) { return slice_in_dim<1, open_end, open_end, 2>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r)
          for (index_t i = 0; i < n / 2; ++i) to[r * (n / 2) + i] = from[r * n + 2 * i];
      });
  add(
      "x plus its flip", [](const operands& a) { return a.x + flip<1>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r, from += n, to += n)
          for (index_t i = 0; i < n; ++i) to[i] = from[i] + from[n - 1 - i];
      });
  add(
      "diff of rows", [](const operands& a) { return diff<1>(a.x); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r)
          for (index_t i = 0; i + 1 < n; ++i) *to++ = from[r * n + i + 1] - from[r * n + i];
      });
  add(
      "sum of every second column",
      [](const operands& a) { return sum<1>(slice_in_dim<1, open_end, open_end, 2>(a.x)); },
      [](const float* from, float* to, const operands&) {
        for (index_t r = 0; r < n; ++r) {
          float sum = 0;
          for (index_t i = 0; i < n; i += 2) sum += from[r * n + i];
          to[r] = sum;
        }
      });
  add_beside(
      "product with a transpose", "Eigen",
      [](const operands& a) { return matmul(a.whole_x, transpose<1, 0>(a.whole_x)); },
      [](operands& held) { held.out.noalias() = held.host * held.host.transpose(); });
  add_beside(
      "sum of rows", "Eigen, row by row", [](const operands& a) { return sum<1>(a.x); },
      [](operands& held) { held.out.col(0) = held.host.rowwise().sum(); });
  add_beside(
      "sum onto a row", "Eigen, column by column", [](const operands& a) { return sum<0>(a.x); },
      [](operands& held) { held.out.row(0) = held.host.colwise().sum(); });
  add_beside(
      "max of rows", "Eigen, row by row", [](const operands& a) { return max<1>(a.x); },
      [](operands& held) { held.out.col(0) = held.host.rowwise().maxCoeff(); });
  add_beside(
      "inverse", "Eigen, PartialPivLU",
      [](const operands& a) { return linalg::inverse(a.whole_x); },
      [](operands& held) { held.out = held.host.partialPivLu().inverse(); });
  // A thousand columns take seconds.
  if constexpr (n <= 100)
    add_beside(
        "singular values and vectors", "Eigen, BDCSVD",
        [](const operands& a) { return std::get<0>(linalg::svd(a.whole_x)); },
        [](operands& held) {
          held.out = Eigen::BDCSVD<typename operands::matrix>(
                         held.host, Eigen::ComputeThinU | Eigen::ComputeThinV)
                         .matrixU();
        });
  add(
      "einsum over min_plus",
      [](const operands& a) {
        return einsum<"ij,jk->ik", min_plus>(a.x, reshard<P<none, none>>(a.x));
      },
      [](const float* from, float* to, const operands&) {
        for (index_t i = 0; i < n; ++i) {
          std::fill_n(to + i * n, n, std::numeric_limits<float>::infinity());
          for (index_t k = 0; k < n; ++k)
            for (index_t j = 0; j < n; ++j)
              to[i * n + j] = std::min(to[i * n + j], from[i * n + k] + from[k * n + j]);
        }
      });
}

/// Queries, keys and values of one head of 64 numbers.
template <index_t Positions>
struct attention_operands {
  static constexpr index_t size = 64;
  using X = sharded_tensor<float, extents<1, Positions, size>, layout<one, P<none, none, none>>>;

  device_pool pool{one{}, 1};
  X q = normal<X>(pool, random_key{1});
  X k = normal<X>(pool, random_key{2});
  X v = normal<X>(pool, random_key{3});
  std::vector<float> hq = on_host(q);
  std::vector<float> hk = on_host(k);
  std::vector<float> hv = on_host(v);
  std::vector<float> out = std::vector<float>(hq.size());
  std::vector<float> scores = std::vector<float>(static_cast<std::size_t>(Positions));

  static std::vector<float> on_host(const X& x) {
    const auto made = to_host(x);
    return {made.elements().begin(), made.elements().end()};
  }
};

/// Attention beside the three loops.
template <index_t Positions>
bench::row attention_row() {
  using operands = attention_operands<Positions>;
  constexpr index_t n = Positions, size = operands::size;
  const auto all = std::make_shared<operands>();
  return {"attention, " + std::to_string(n) + " x " + std::to_string(size),
          "the loop, one thread",
          [all] {
            const auto y = attention(all->q, all->k, all->v);
            sync(y);
            bench::keep(y);
          },
          [all] {
            float* const s = all->scores.data();
            for (index_t i = 0; i < n; ++i) {
              const float* const q = all->hq.data() + i * size;
              float most = -std::numeric_limits<float>::infinity(), sum = 0;
              for (index_t j = 0; j < n; ++j) {
                const float* const k = all->hk.data() + j * size;
                s[j] = 0;
                for (index_t d = 0; d < size; ++d) s[j] += q[d] * k[d];
                s[j] *= 0.125F;
                most = std::max(most, s[j]);
              }
              for (index_t j = 0; j < n; ++j) sum += s[j] = std::exp(s[j] - most);
              float* const to = all->out.data() + i * size;
              std::fill_n(to, size, 0.0F);
              for (index_t j = 0; j < n; ++j)
                for (index_t d = 0; d < size; ++d)
                  to[d] += s[j] / sum * all->hv[static_cast<std::size_t>(j * size + d)];
            }
            bench::keep(all->out);
          },
          1,
          1};
}

std::vector<bench::row> rows() {
  std::vector<bench::row> all;
  add_rows<100>(all);
  add_rows<1000>(all);
  all.push_back(attention_row<160>());
  all.push_back(attention_row<1024>());
  return all;
}

const bench::add here(rows);

}  // namespace
