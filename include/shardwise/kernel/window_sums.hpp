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
  explicit window_sums(const window_walk& walk) : walk_(walk), inside_{0, walk.count[2]} {
    terms_.reserve(static_cast<std::size_t>(walk.elements()));
    columns_.reserve(static_cast<std::size_t>(walk.size[2]));
    for (index_t c = 0; c < walk.size[2]; ++c) {
      const window_walk::run reads = walk.run_of(2, c);
      columns_.push_back(reads);
      if (reads.count == 0) continue;
      const bool is_adjacent =
          reads.window_step == 1 && reads.source_step == 1 && walk.step[2] == 1;
      inside_.begin = std::max(inside_.begin, reads.window);
      inside_.end = is_adjacent ? std::min(inside_.end, reads.window + reads.count) : 0;
    }
    inside_.begin = std::min(inside_.begin, walk.count[2]);
    inside_.end = std::max(inside_.begin, inside_.end);
  }
  /// Computes the sums of all windows of a block, which are contiguous. `weights` has one number
  /// for each element of a window.
  void run(const C* weights, const C* data, C* out) {
    for (index_t i = 0; i < walk_.count[0]; ++i)
      for (index_t j = 0; j < walk_.count[1]; ++j, out += walk_.count[2]) {
        find_terms(weights, data, i, j);
        sum_row(out);
      }
  }

 private:
  using vector = typename vector_of<C>::type;
  static constexpr index_t lanes = sizeof(vector) / sizeof(C);

  void find_terms(const C* weights, const C* data, index_t i, index_t j) {
    terms_.clear();
    for (index_t k = 0; k < walk_.size[0]; ++k) {
      const index_t a = walk_.index_at(0, i, k);
      for (index_t l = 0; l < walk_.size[1]; ++l, weights += walk_.size[2]) {
        const index_t b = walk_.index_at(1, j, l);
        if (a < 0 || b < 0) continue;
        const C* const row = data + a * walk_.step[0] + b * walk_.step[1];
        for (std::size_t c = 0; c < columns_.size(); ++c)
          if (columns_[c].count > 0)
            terms_.push_back({row, walk_.step[2], weights[c], columns_[c]});
      }
    }
  }
  void sum_row(C* out) const {
    sum_each({0, inside_.begin}, out);
    index_t p = inside_.begin;
    for (; p + 4 * lanes <= inside_.end; p += 4 * lanes) sum_together<4>(p, out);
    if (p + 2 * lanes <= inside_.end) {
      sum_together<2>(p, out);
      p += 2 * lanes;
    }
    if (p + lanes <= inside_.end) {
      sum_together<1>(p, out);
      p += lanes;
    }
    // The last windows are computed with some that have been, which does not change their bits.
    if (p < inside_.end && inside_.size() >= lanes) {
      sum_together<1>(inside_.end - lanes, out);
      p = inside_.end;
    }
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
        const index_t away = window - one.reads.window, step = one.reads.window_step;
        return away <= 0 ? 0 : std::min(step == 1 ? away : ceil_div(away, step), one.reads.count);
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
  /// The elements that each column of the window reads, and the range of windows without padding
  /// whose elements are adjacent to those of the next window.
  scratch_vector<window_walk::run> columns_;
  index_range inside_;
  scratch_vector<window_term<C>> terms_;
};

}  // namespace shardwise::detail
