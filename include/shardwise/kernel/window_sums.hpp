// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/function_kernels.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/window_panel.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise::detail {

/// One product of each sum in a row of windows: window `p` reads `from[p * step]`, if it is one of
/// those that read an element and not padding.
template <class C>
struct window_term {
  const C* from = nullptr;
  index_t step = 1;
  C weight{};
  window_walk::run reads{};
};

/// Sums of products of windows and weights, row by row of the windows. Each sum begins with 0 and
/// adds the products in the order of the weights, without contraction, wherever the window lies:
/// an element has the same bits in every layout.
template <class C>
class window_sums {
 public:
  /// `weights` has one number for each element of a window.
  window_sums(const window_walk& walk, const C* weights) : walk_(walk), weights_(weights) {
    terms_.reserve(static_cast<std::size_t>(walk.elements()));
  }
  /// Computes the sums of all windows of a block, which are contiguous.
  void run(const C* data, C* out) {
    for (index_t i = 0; i < walk_.count[0]; ++i)
      for (index_t j = 0; j < walk_.count[1]; ++j, out += walk_.count[2]) {
        find_terms(data, i, j);
        sum_row(out);
      }
  }

 private:
  using vector = typename vector_of<C>::type;
  static constexpr index_t lanes = sizeof(vector) / sizeof(C);

  void find_terms(const C* data, index_t i, index_t j) {
    terms_.clear();
    for (index_t k = 0; k < walk_.elements(); ++k) {
      const index_t a = walk_.index_at(0, i, k / (walk_.size[1] * walk_.size[2]));
      const index_t b = walk_.index_at(1, j, k / walk_.size[2] % walk_.size[1]);
      if (a < 0 || b < 0) continue;
      const window_walk::run reads = walk_.run_of(2, k % walk_.size[2]);
      if (reads.count == 0) continue;
      terms_.push_back(
          {data + a * walk_.step[0] + b * walk_.step[1], walk_.step[2], weights_[k], reads});
    }
  }
  void sum_row(C* out) const {
    // The windows all of whose elements are adjacent to those of the next window, and exist.
    index_range inside{0, walk_.count[2]};
    for (const window_term<C>& one : terms_) {
      const bool is_adjacent =
          one.reads.window_step == 1 && one.reads.source_step == 1 && one.step == 1;
      inside.begin = std::max(inside.begin, one.reads.window);
      inside.end = is_adjacent ? std::min(inside.end, one.reads.window + one.reads.count) : 0;
    }
    inside.begin = std::min(inside.begin, walk_.count[2]);
    inside.end = std::max(inside.begin, inside.end);
    sum_each({0, inside.begin}, out);
    index_t p = inside.begin;
    for (; p + 4 * lanes <= inside.end; p += 4 * lanes) sum_together<4>(p, out);
    for (; p + lanes <= inside.end; p += lanes) sum_together<1>(p, out);
    sum_each({p, walk_.count[2]}, out);
  }
  /// Computes the sums of `Count` vectors of adjacent windows, which stay in registers.
  template <std::size_t Count>
  void sum_together(index_t p, C* out) const noexcept {
    vector sums[Count];
    for_each_index<Count>([&]<std::size_t I>() { sums[I] = packet::pset1<vector>(C{0}); });
    for (const window_term<C>& one : terms_) {
      const vector weight = packet::pset1<vector>(one.weight);
      const C* const from = one.from + (one.reads.source - one.reads.window) + p;
      for_each_index<Count>([&]<std::size_t I>() {
        sums[I] = add(sums[I], weight, packet::ploadu<vector>(from + I * lanes));
      });
    }
    for_each_index<Count>([&]<std::size_t I>() { packet::pstoreu(out + p + I * lanes, sums[I]); });
  }
  /// Computes the sums of some windows term by term.
  void sum_each(const index_range& windows, C* out) const noexcept {
    if (windows.empty()) return;
    std::fill(out + windows.begin, out + windows.end, C{0});
    for (const window_term<C>& one : terms_) {
      const auto members_before = [&](index_t window) {
        const index_t away = window - one.reads.window;
        return away <= 0 ? 0 : std::min(ceil_div(away, one.reads.window_step), one.reads.count);
      };
      for (index_t q = members_before(windows.begin); q < members_before(windows.end); ++q) {
        C& sum = out[one.reads.window + q * one.reads.window_step];
        sum = add(sum, one.weight,
                  one.from[(one.reads.source + q * one.reads.source_step) * one.step]);
      }
    }
  }
  template <class V>
  [[gnu::always_inline]] static V add(const V& sum, const V& weight, const V& x) noexcept {
    return rounded(
        kernel<functions::add>::run(sum, rounded(kernel<functions::multiply>::run(weight, x))));
  }

  window_walk walk_;
  const C* weights_;
  scratch_vector<window_term<C>> terms_;
};

}  // namespace shardwise::detail
