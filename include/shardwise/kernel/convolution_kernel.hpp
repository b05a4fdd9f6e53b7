// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/window_panel.hpp"
#include "shardwise/kernel/window_sums.hpp"
#include "shardwise/operation/convolution.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace shardwise {

namespace detail {

/// The elements that the windows at some positions read, with one row for each channel and element
/// of a window: the matrix that makes a convolution a product. The number of positions is such that
/// it stays in the caches.
template <class C>
class window_panel {
 public:
  window_panel(const window_walk& walk, index_t channels)
      : walk_(walk),
        rows_(channels * walk.elements()),
        most_(std::clamp<index_t>(panel_elements / std::max<index_t>(rows_, 1), 32,
                                  std::max<index_t>(walk.positions(), 32))),
        memory_(make_scratch<C>(static_cast<std::size_t>(rows_ * most_))) {}

  /// Calls `f(first position, panel)` for all positions, block by block; `data` is the first of the
  /// channels, which are `step` apart.
  template <class F>
  void for_each_block(const C* data, index_t step, const F& f) {
    const index_t positions = walk_.positions(), elements = walk_.elements();
    const index_t channels = rows_ / elements;
    for (index_t begin = 0; begin < positions; begin += most_) {
      const index_range block{begin, std::min(begin + most_, positions)};
      if (reads_in_place()) {
        f(begin, matrix_view<const C>{data + begin, rows_, block.size(), step, 1});
        continue;
      }
      C* to = memory_.get();
      for (index_t c = 0; c < channels; ++c)
        for (index_t k = 0; k < elements; ++k, to += block.size())
          walk_.gather(data + c * step, k, block, to);
      f(begin, matrix_view<const C>{memory_.get(), rows_, block.size(), block.size(), 1});
    }
  }

 private:
  static constexpr index_t panel_elements = index_t{1} << 16U;

  /// Returns true if the panel is the operand: contiguous windows of one element.
  [[nodiscard]] bool reads_in_place() const noexcept {
    index_t expected = 1;
    for (int d = window_walk::rank - 1; d >= 0; --d) {
      const window_numbers& one = walk_.numbers[d];
      if (walk_.size[d] != 1 || one.stride != 1 || one.spacing != 1 || one.low != 0 ||
          walk_.first[d] != walk_.begin[d] || walk_.have[d] != walk_.count[d])
        return false;
      if (walk_.have[d] != 1 && walk_.step[d] != expected) return false;
      expected *= walk_.have[d];
    }
    return true;
  }

  window_walk walk_;
  index_t rows_;
  index_t most_;
  scratch_array<C> memory_;
};

/// Returns the number of groups of channels in a block of inputs.
[[nodiscard]] inline index_t groups_of(index_t channels, index_t in_group) noexcept {
  return in_group == 0 ? 0 : channels / in_group;
}

}  // namespace detail

/// Computes the product of the weights and the elements that windows read, for each example and
/// each group of channels.
template <>
struct kernel_of<convolution_operation> {
  static constexpr bool widens_halves = true;
  static constexpr bool widens_bytes = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 2>(call, [&](const strided<const C>& inputs, const strided<const C>& weights,
                              const strided<C>& to) { convolve<C>(call, inputs, weights, to); });
  }

 private:
  template <class C>
  static void convolve(const kernel_call& call, const strided<const C>& inputs,
                       const strided<const C>& weights, const strided<C>& to) {
    if (to.size() == 0) return;
    const int dimensions = inputs.rank() - 2;
    const auto walk = detail::walk_windows(
        inputs.strides, call.parts[0], call.made, dimensions,
        [&](int d) { return internal::window_attributes::at(call.how, dimensions, d); },
        [&](int d) { return weights.extents[2 + d]; });
    const index_t in_group = weights.extents[1];
    const index_t groups = detail::groups_of(inputs.extents[1], in_group);
    if (groups == 0 || inputs.size() == 0) return fill_block<C>(C{0}, to);
    scratch_array<C> memory;
    const C* const matrix = detail::without_gaps(weights, memory);
    const index_t made = weights.extents[0] / groups, columns = in_group * walk.elements();
    const index_t positions = walk.positions();
    detail::window_panel<C> panel(walk, in_group);
    detail::window_sums<C> sums(walk);
    for (index_t n = 0; n < inputs.extents[0]; ++n)
      for (index_t g = 0; g < groups; ++g) {
        C* const result = to.data + n * to.strides[0] + g * made * to.strides[1];
        // A product with one row and few columns would mostly copy its operands.
        if (in_group == 1 && made == 1) {
          sums.run(matrix + g * columns,
                   inputs.data + n * inputs.strides[0] + g * inputs.strides[1], result);
          continue;
        }
        panel.for_each_block(
            inputs.data + n * inputs.strides[0] + g * in_group * inputs.strides[1],
            inputs.strides[1], [&](index_t first, const matrix_view<const C>& reads) {
              multiply_matrices<C>({matrix + g * made * columns, made, columns, columns, 1}, reads,
                                   {result + first, made, reads.columns, positions, 1});
            });
      }
  }
};

/// Computes the product of the cotangents and the elements that windows read, accumulated block by
/// block.
template <>
struct kernel_of<convolution_weights_operation> {
  static constexpr bool widens_halves = true;
  static constexpr bool widens_bytes = true;

  template <class C>
  static void run(const kernel_call& call) {
    on_blocks<C, 2>(call,
                    [&](const strided<const C>& inputs, const strided<const C>& cotangents,
                        const strided<C>& to) { accumulate<C>(call, inputs, cotangents, to); });
  }

 private:
  template <class C>
  static void accumulate(const kernel_call& call, const strided<const C>& inputs,
                         const strided<const C>& cotangents, const strided<C>& to) {
    fill_block<C>(C{0}, to);
    if (to.size() == 0 || inputs.size() == 0 || cotangents.size() == 0) return;
    const int dimensions = inputs.rank() - 2;
    const auto walk = detail::walk_windows(
        inputs.strides, call.parts[0], call.parts[1], dimensions,
        [&](int d) { return internal::window_attributes::at(call.how, dimensions, d); },
        [&](int d) { return convolution_weights_operation::window_size(call.how, dimensions, d); });
    const index_t in_group = to.extents[1];
    const index_t groups = detail::groups_of(inputs.extents[1], in_group);
    if (groups == 0) return;
    scratch_array<C> memory;
    const C* const dense = detail::without_gaps(cotangents, memory);
    const index_t made = to.extents[0] / groups, columns = in_group * walk.elements();
    const index_t positions = walk.positions(), channels = cotangents.extents[1];
    const auto terms = make_scratch<C>(static_cast<std::size_t>(made * columns));
    detail::window_panel<C> panel(walk, in_group);
    for (index_t n = 0; n < inputs.extents[0]; ++n)
      for (index_t g = 0; g < groups; ++g) {
        C* const result = to.data + g * made * columns;
        panel.for_each_block(
            inputs.data + n * inputs.strides[0] + g * in_group * inputs.strides[1],
            inputs.strides[1], [&](index_t first, const matrix_view<const C>& reads) {
              const C* const from = dense + (n * channels + g * made) * positions + first;
              multiply_matrices<C>({from, made, reads.columns, positions, 1}, reads.transposed(),
                                   {terms.get(), made, columns, columns, 1});
              for (index_t i = 0; i < made * columns; ++i)
                result[i] = static_cast<C>(result[i] + terms[static_cast<std::size_t>(i)]);
            });
      }
  }
};

}  // namespace shardwise
