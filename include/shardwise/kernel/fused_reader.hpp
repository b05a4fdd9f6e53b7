// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fused_steps.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>

namespace shardwise {

namespace detail {
/// True for a tree that only returns its last operand.
template <class Tree, std::size_t N>
inline constexpr bool passes_on = std::same_as<Tree, fused::argument<N - 1>>;
}  // namespace detail

/// Computes any run of the elements of a fused tree, whatever the strides of its operands.
template <class T, std::size_t N>
class fused_reader {
 public:
  /// `nest` traverses the operands, whose element 0 is at `data`; the tree and `nest` must outlive
  /// this object. `passes_on` states that the tree only returns its last operand.
  fused_reader(const detail::erased_tree<T, N>& tree, bool passes_on, const T* const (&data)[N],
               const loop_nest<N>& nest) noexcept
      : tree_(tree), passes_on_(passes_on), nest_(nest) {
    for (std::size_t k = 0; k < N; ++k) {
      data_[k] = data[k];
      strided_ |= nest.inner_stride(k) != 0 && nest.inner_stride(k) != 1;
    }
    in_place_ = passes_on && nest.rank() == 1 && nest.inner_stride(N - 1) == 1;
  }

  /// Moves element 0 of every operand.
  void rebase(const T* const (&data)[N]) noexcept {
    for (std::size_t k = 0; k < N; ++k) data_[k] = data[k];
  }

  /// Returns true if all elements are contiguous in an operand that the tree only returns.
  [[nodiscard]] bool is_in_place() const noexcept { return in_place_; }
  /// Returns true if some operand is neither contiguous nor repeated along the last loop.
  [[nodiscard]] bool gathers() const noexcept { return strided_; }

  /// Returns the elements [first, first + count) in contiguous memory: in place if they are
  /// contiguous in an operand that the tree only returns, and otherwise computed into `buffer`.
  [[nodiscard]] const T* view(index_t first, index_t count, T* buffer) const {
    if (in_place_) return data_[N - 1] + first;
    if (passes_on_) {
      const auto place = nest_.at(first);
      if (nest_.inner_stride(N - 1) == 1 && place.inner + count <= nest_.inner_extent())
        return data_[N - 1] + place.offsets[N - 1];
    }
    read(first, count, buffer);
    return buffer;
  }

  /// Writes the elements [first, first + count) to contiguous memory at `out`.
  void read(index_t first, index_t count, T* out) const {
    for (index_t done = 0; done < count;) {
      const auto place = nest_.at(first + done);
      const index_t row = std::min(count - done, nest_.inner_extent() - place.inner);
      const index_t wanted = std::min(count - done, detail::staged);
      if (row >= std::min(wanted, detail::step<T>))
        done += read_row(place.offsets, row, out + done);
      else
        done += read_rows(first + done, wanted, out + done);
    }
  }

 private:
  /// Computes elements of one row: contiguous operands are read in place.
  index_t read_row(const index_t (&offsets)[N], index_t row, T* out) const {
    const index_t run = strided_ ? std::min(row, detail::staged) : row;
    T buffers[N][detail::staged];
    const T* from[N];
    index_t moves[N];
    for (std::size_t k = 0; k < N; ++k) {
      const T* start = data_[k] + offsets[k];
      const index_t stride = nest_.inner_stride(k);
      from[k] = stride == 1 ? start : buffers[k];
      moves[k] = stride == 0 ? 0 : detail::step<T>;
      if (stride == 0)
        std::fill_n(buffers[k], detail::step<T>, *start);
      else if (stride != 1)
        gather_elements(start, stride, run, buffers[k]);
    }
    tree_(from, moves, out, run);
    return run;
  }

  /// Computes elements of several short rows, which are copied to contiguous memory first.
  index_t read_rows(index_t first, index_t run, T* out) const {
    T buffers[N][detail::staged];
    const T* from[N];
    index_t moves[N];
    for (std::size_t k = 0; k < N; ++k) {
      from[k] = buffers[k];
      moves[k] = detail::step<T>;
    }
    for_each_piece(nest_, first, run, [&](index_t done, const index_t(&offsets)[N], index_t n) {
      for (std::size_t k = 0; k < N; ++k)
        gather_elements(data_[k] + offsets[k], nest_.inner_stride(k), n, buffers[k] + done);
    });
    tree_(from, moves, out, run);
    return run;
  }

  detail::erased_tree<T, N> tree_;
  bool passes_on_;
  const T* data_[N];
  const loop_nest<N>& nest_;
  bool strided_ = false;
  bool in_place_ = false;
};

}  // namespace shardwise
