// SPDX-License-Identifier: BSL-1.0
// Convolutions, stencils, poolings and interpolation beside the obvious loops: one thread and a
// million elements each.
#include "harness.hpp"
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

using namespace shardwise;

namespace {

struct one : mesh<axis<"data", 1>> {};
template <index_t... N>
using images = sharded_tensor<float, extents<N...>, layout<one, P<"data", none, none, none>>>;

/// Random numbers in a pool, and the same on the host.
template <class X>
struct held {
  X x;
  std::vector<float> host;

  held(const device_pool& pool, random_key seed) : x(normal<X>(pool, seed)) {
    const auto made = to_host(x);
    host.assign(made.elements().begin(), made.elements().end());
  }
};

/// Images of 16 channels, 64 x 64 each, and a filter of 3 x 3.
constexpr index_t batch = 16, channels = 16, side = 64, reach = 3;

template <index_t Features, index_t Groups>
bench::row convolution_row(std::string name) {
  constexpr index_t in_group = channels / Groups;
  struct operands {
    device_pool pool{one{}, 1};
    held<images<batch, channels, side, side>> x{pool, random_key{1}};
    held<images<Features, in_group, reach, reach>> w{pool, random_key{2}};
    std::vector<float> out = std::vector<float>(batch * Features * side * side);
  };
  const auto all = std::make_shared<operands>();
  return {std::move(name) + ", 16 x 16 x 64 x 64",
          "the loop, one thread",
          [all] {
            const auto y = convolution<paddings<1, 1>, feature_groups<Groups>>(all->x.x, all->w.x);
            sync(y);
            bench::keep(y);
          },
          [all] {
            const float* const x = all->x.host.data();
            const float* const w = all->w.host.data();
            float* to = all->out.data();
            for (index_t n = 0; n < batch; ++n)
              for (index_t o = 0; o < Features; ++o)
                for (index_t p = 0; p < side; ++p)
                  for (index_t q = 0; q < side; ++q) {
                    float sum = 0;
                    for (index_t i = 0; i < in_group; ++i)
                      for (index_t k = 0; k < reach; ++k)
                        for (index_t l = 0; l < reach; ++l) {
                          const index_t row = p + k - 1, column = q + l - 1;
                          if (row < 0 || row >= side || column < 0 || column >= side) continue;
                          const index_t c = o / (Features / Groups) * in_group + i;
                          sum += x[((n * channels + c) * side + row) * side + column] *
                                 w[((o * in_group + i) * reach + k) * reach + l];
                        }
                    *to++ = sum;
                  }
            bench::keep(all->out);
          },
          1,
          1};
}

struct pooled_images {
  explicit pooled_images(index_t made)
      : out(static_cast<std::size_t>(batch * channels * made * made)) {}

  device_pool pool{one{}, 1};
  held<images<batch, channels, side, side>> x{pool, random_key{1}};
  std::vector<float> out;
};

template <index_t Size, index_t Step, index_t Around, class F>
bench::row pool_row(std::string name, const F& f) {
  constexpr index_t made = (side + 2 * Around - Size) / Step + 1;
  const auto all = std::make_shared<pooled_images>(made);
  return {std::move(name) + ", 16 x 16 x 64 x 64",
          "the loop, one thread",
          [all, f] {
            const auto y = f(all->x.x);
            sync(y);
            bench::keep(y);
          },
          [all] {
            const float* x = all->x.host.data();
            float* to = all->out.data();
            for (index_t n = 0; n < batch * channels; ++n, x += side * side)
              for (index_t p = 0; p < made; ++p)
                for (index_t q = 0; q < made; ++q) {
                  float best = -INFINITY;
                  for (index_t k = 0; k < Size; ++k)
                    for (index_t l = 0; l < Size; ++l) {
                      const index_t row = p * Step + k - Around, column = q * Step + l - Around;
                      if (row < 0 || row >= side || column < 0 || column >= side) continue;
                      best = std::max(best, x[row * side + column]);
                    }
                  *to++ = best;
                }
            bench::keep(all->out);
          },
          1,
          1};
}

/// Images that get `Made` x `Made` elements on straight lines between those of `side` x `side`.
template <index_t Made>
bench::row resize_row(std::string name) {
  const auto all = std::make_shared<pooled_images>(Made);
  return {
      std::move(name) + ", 16 x 16 x 64 x 64",
      "the loop, one thread",
      [all] {
        const auto y = interpolate<interpolation::linear, Made, Made>(all->x.x);
        sync(y);
        bench::keep(y);
      },
      [all] {
        struct between {
          index_t low, high;
          float weight;
        };
        const auto at = [](index_t i) {
          constexpr float scale = static_cast<float>(side) / Made;
          const float place = (static_cast<float>(i) + 0.5F) * scale - 0.5F;
          const float low = std::floor(place);
          const auto index = static_cast<index_t>(low);
          return between{std::max<index_t>(index, 0), std::min(index + 1, side - 1), place - low};
        };
        const float* x = all->x.host.data();
        float* to = all->out.data();
        for (index_t n = 0; n < batch * channels; ++n, x += side * side)
          for (index_t p = 0; p < Made; ++p) {
            const between r = at(p);
            for (index_t q = 0; q < Made; ++q) {
              const between c = at(q);
              const float* const above = x + r.low * side;
              const float* const below = x + r.high * side;
              const float top = above[c.low] + c.weight * (above[c.high] - above[c.low]);
              const float bottom = below[c.low] + c.weight * (below[c.high] - below[c.low]);
              *to++ = top + r.weight * (bottom - top);
            }
          }
        bench::keep(all->out);
      },
      1,
      1};
}

/// A grid of 1024 x 1024 and a stencil of `Size` x `Size`.
template <index_t Size>
bench::row stencil_row(std::string name) {
  constexpr index_t n = 1024;
  struct operands {
    device_pool pool{one{}, 1};
    held<sharded_tensor<float, extents<n, n>, layout<one, P<none, none>>>> x{pool, random_key{1}};
    held<sharded_tensor<float, extents<Size, Size>, layout<one, P<none, none>>>> w{pool,
                                                                                   random_key{2}};
    std::vector<float> out = std::vector<float>(n * n);
  };
  const auto all = std::make_shared<operands>();
  return {std::move(name) + ", 1024 x 1024",
          "the loop, one thread",
          [all] {
            const auto y = stencil(all->x.x, all->w.x);
            sync(y);
            bench::keep(y);
          },
          [all] {
            const float* const x = all->x.host.data();
            const float* const w = all->w.host.data();
            float* to = all->out.data();
            for (index_t p = 0; p < n; ++p)
              for (index_t q = 0; q < n; ++q) {
                float sum = 0;
                for (index_t k = 0; k < Size; ++k)
                  for (index_t l = 0; l < Size; ++l) {
                    const index_t row = p + k - Size / 2, column = q + l - Size / 2;
                    if (row < 0 || row >= n || column < 0 || column >= n) continue;
                    sum += x[row * n + column] * w[k * Size + l];
                  }
                *to++ = sum;
              }
            bench::keep(all->out);
          },
          1,
          1};
}

std::vector<bench::row> rows() {
  return {
      convolution_row<16, 1>("convolution 3 x 3"),
      convolution_row<16, 16>("convolution 3 x 3 of each channel"),
      stencil_row<3>("stencil 3 x 3"),
      stencil_row<5>("stencil 5 x 5"),
      pool_row<2, 2, 0>("max_pool 2 x 2", [](const auto& x) { return max_pool<windows<2, 2>>(x); }),
      pool_row<3, 1, 1>(
          "max_pool 3 x 3",
          [](const auto& x) { return max_pool<windows<3, 3>, strides<1, 1>, paddings<1, 1>>(x); }),
      resize_row<128>("interpolate to 128 x 128"),
      resize_row<48>("interpolate to 48 x 48")};
}

const bench::add here(rows);

}  // namespace
