// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fourier_line.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/operation/fourier.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise {

namespace detail {

/// Lines of a block along one dimension, transformed several at a time: as many as a packet has
/// lanes, or one after the other if they are too long for the cache. The number depends only on the
/// length, so that the bits of a line do not depend on how many lines a device has.
template <class T>
class fourier_lines {
 public:
  /// For lines of `length` complex numbers in memory, of which `transformed` are transformed.
  fourier_lines(index_t length, index_t transformed)
      : lanes_(length <= longest
                   ? static_cast<index_t>(sizeof(typename vector_of<T>::type) / sizeof(T))
                   : 1),
        line_(transformed, lanes_),
        memory_(make_scratch<T>(static_cast<std::size_t>(2 * length * lanes_))),
        parts_{memory_.get(), memory_.get() + length * lanes_} {}

  /// Calls `read(offset, lane)` for each line, transforms the lines, and calls `write(offset, lane,
  /// results)`. The offsets are those of two blocks.
  template <class Read, class Write>
  void run(const loop_nest<2>& nest, bool is_inverse, const Read& read, const Write& write) {
    for (index_t first = 0; first < nest.size(); first += lanes_) {
      const index_t count = std::min(lanes_, nest.size() - first);
      if (count < lanes_) std::fill(parts_.re, parts_.im + (parts_.im - parts_.re), T{0});
      loop_nest<2>::position at[most_lanes];
      for (index_t b = 0; b < count; ++b) {
        at[b] = nest.at(first + b);
        read(at[b].offsets[0], b, parts_);
      }
      const complex_parts<T> made =
          is_inverse ? line_.run(parts_.swapped()).swapped() : line_.run(parts_);
      for (index_t b = 0; b < count; ++b) write(at[b].offsets[1], b, made);
    }
  }
  /// The number of lines at a time.
  [[nodiscard]] index_t lanes() const noexcept { return lanes_; }

 private:
  static constexpr index_t longest = 4096;
  static constexpr std::size_t most_lanes = 64 / sizeof(T);

  index_t lanes_;
  fourier_line<T> line_;
  scratch_array<T> memory_;
  complex_parts<T> parts_;
};

/// Returns the loops over the lines along dimension `dim` of two blocks that have their first
/// `rank` dimensions in common.
template <class A, class B>
[[nodiscard]] loop_nest<2> lines_along(int dim, int rank, const A& from, const B& to) noexcept {
  loop_nest<2> nest;
  for (int d = 0; d < rank; ++d)
    if (d != dim) nest.push({from.extents[d], {from.strides[d], to.strides[d]}});
  return nest;
}
/// Returns the address of an element; blocks without elements may have no memory.
template <class T>
[[nodiscard]] T* element_at(const strided<T>& block, index_t offset) noexcept {
  return block.size() == 0 ? block.data : block.data + offset;
}

/// Transforms complex numbers along one dimension, from one block to another or within it.
template <class T>
void transform_pairs(const strided<const T>& from, const strided<T>& to, int dim, bool is_inverse,
                     T factor) {
  const int pairs = from.rank() - 1;
  const index_t length = from.extents[dim];
  if (from.size() == 0) return;
  fourier_lines<T> lines(length, length);
  const index_t lanes = lines.lanes();
  const index_t step = from.strides[dim], other = from.strides[pairs];
  const index_t move = to.strides[dim], beside = to.strides[pairs];
  lines.run(
      lines_along(dim, pairs, from, to), is_inverse,
      [&](index_t offset, index_t lane, const complex_parts<T>& line) {
        const T* const x = from.data + offset;
        for (index_t j = 0; j < length; ++j) {
          line.re[j * lanes + lane] = x[j * step];
          line.im[j * lanes + lane] = x[j * step + other];
        }
      },
      [&](index_t offset, index_t lane, const complex_parts<T>& line) {
        T* const y = to.data + offset;
        for (index_t j = 0; j < length; ++j) {
          y[j * move] = line.re[j * lanes + lane] * factor;
          y[j * move + beside] = line.im[j * lanes + lane] * factor;
        }
      });
}

/// The elements of the half of a transform of `length` real numbers: those whose conjugates are in
/// the other half count twice.
struct half_spectrum {
  index_t length;

  [[nodiscard]] index_t size() const noexcept { return length / 2 + 1; }
  [[nodiscard]] bool is_alone(index_t k) const noexcept { return k == 0 || 2 * k == length; }
  /// Two real numbers are transformed as one complex number if their number is even.
  [[nodiscard]] bool in_pairs() const noexcept { return length > 0 && length % 2 == 0; }
  [[nodiscard]] index_t transformed() const noexcept { return in_pairs() ? length / 2 : length; }
};

/// Transforms real numbers to the first half of their transform. Element `k` is multiplied by
/// `factor`, and by 2 if it counts twice and `is_weighted`.
template <class T>
void transform_to_half(const strided<const T>& from, const strided<T>& to, int dim,
                       bool is_weighted, T factor) {
  const int rank = from.rank();
  const half_spectrum half{from.extents[dim]};
  const index_t length = half.length, packed = half.transformed();
  fourier_lines<T> lines(std::max(half.size(), packed), packed);
  const index_t lanes = lines.lanes();
  const fourier_roots roots(std::max(length, index_t{1}));
  scratch_vector<complex_of<T>> turns;
  for (index_t k = 0; k < half.size() && half.in_pairs(); ++k) turns.push_back(roots.at<T>(k));
  const index_t step = from.strides[dim], move = to.strides[dim], beside = to.strides[rank];
  lines.run(
      lines_along(dim, rank, from, to), false,
      [&](index_t offset, index_t lane, const complex_parts<T>& line) {
        const T* const x = element_at(from, offset);
        for (index_t j = 0; j < packed; ++j) {
          const index_t at = half.in_pairs() ? 2 * j * step : j * step;
          line.re[j * lanes + lane] = x[at];
          line.im[j * lanes + lane] = half.in_pairs() ? x[at + step] : T{0};
        }
      },
      [&](index_t offset, index_t lane, const complex_parts<T>& line) {
        T* const y = to.data + offset;
        const auto store = [&](index_t k, const complex_of<T>& value) {
          const T times = is_weighted && !half.is_alone(k) ? 2 * factor : factor;
          y[k * move] = value.re * times;
          y[k * move + beside] = half.is_alone(k) ? T{0} : value.im * times;
        };
        if (length == 0) return store(0, {T{0}, T{0}});
        for (index_t k = 0; k < half.size(); ++k) {
          const index_t at = k % packed * lanes + lane;
          if (!half.in_pairs()) {
            store(k, {line.re[at], line.im[at]});
            continue;
          }
          // The transforms of the even and of the odd elements.
          const index_t mirrored = (packed - k) % packed * lanes + lane;
          const complex_of<T> even{(line.re[at] + line.re[mirrored]) / 2,
                                   (line.im[at] - line.im[mirrored]) / 2};
          const complex_of<T> odd{(line.im[at] + line.im[mirrored]) / 2,
                                  (line.re[mirrored] - line.re[at]) / 2};
          const complex_of<T>& turn = turns[static_cast<std::size_t>(k)];
          store(k, {even.re + odd.re * turn.re - odd.im * turn.im,
                    even.im + odd.re * turn.im + odd.im * turn.re});
        }
      });
}

/// Transforms the half of a transform back to real numbers. Element `k` is multiplied by `factor`,
/// and counts twice if its conjugate is in the other half and `is_weighted`.
template <class T>
void transform_from_half(const strided<const T>& from, const strided<T>& to, int dim,
                         bool is_weighted, T factor) {
  const int rank = to.rank();
  if (to.size() == 0) return;
  const half_spectrum half{to.extents[dim]};
  const index_t length = half.length, packed = half.transformed();
  fourier_lines<T> lines(std::max(half.size(), packed), packed);
  const index_t lanes = lines.lanes();
  const fourier_roots roots(length);
  scratch_vector<complex_of<T>> turns;
  for (index_t k = 0; k < half.size() && half.in_pairs(); ++k) turns.push_back(roots.at<T>(k));
  const index_t step = from.strides[dim], other = from.strides[rank], move = to.strides[dim];
  scratch_vector<complex_of<T>> given(static_cast<std::size_t>(half.size()));
  lines.run(
      lines_along(dim, rank, from, to), true,
      [&](index_t offset, index_t lane, const complex_parts<T>& line) {
        const T* const x = from.data + offset;
        // The whole transform has each element once, and its conjugate beside it.
        for (index_t k = 0; k < half.size(); ++k) {
          const T times = is_weighted || half.is_alone(k) ? factor : factor / 2;
          given[static_cast<std::size_t>(k)] = {
              x[k * step] * times, half.is_alone(k) ? T{0} : x[k * step + other] * times};
        }
        for (index_t k = 0; k < packed; ++k) {
          const index_t to_here = k * lanes + lane;
          if (!half.in_pairs()) {
            const bool is_given = k < half.size();
            const complex_of<T>& one = given[static_cast<std::size_t>(is_given ? k : length - k)];
            line.re[to_here] = one.re;
            line.im[to_here] = is_given ? one.im : -one.im;
            continue;
          }
          const complex_of<T>& one = given[static_cast<std::size_t>(k)];
          const complex_of<T>& mirrored = given[static_cast<std::size_t>(packed - k)];
          const complex_of<T>& turn = turns[static_cast<std::size_t>(k)];
          const complex_of<T> sum{one.re + mirrored.re, one.im - mirrored.im};
          const complex_of<T> apart{one.re - mirrored.re, one.im + mirrored.im};
          line.re[to_here] = sum.re + turn.im * apart.re - turn.re * apart.im;
          line.im[to_here] = sum.im + turn.im * apart.im + turn.re * apart.re;
        }
      },
      [&](index_t offset, index_t lane, const complex_parts<T>& line) {
        T* const y = to.data + offset;
        for (index_t j = 0; j < packed; ++j) {
          if (!half.in_pairs()) {
            y[j * move] = line.re[j * lanes + lane];
            continue;
          }
          y[2 * j * move] = line.re[j * lanes + lane];
          y[(2 * j + 1) * move] = line.im[j * lanes + lane];
        }
      });
}

/// Returns the factor of an inverse transform: 1 divided by the number of elements that each result
/// is a sum of.
template <class T, class Dims>
[[nodiscard]] T inverse_factor(const Dims& dims, const inplace_vector<index_t, max_rank>& extents) {
  double count = 1;
  for (const index_t d : dims) count *= static_cast<double>(extents[static_cast<int>(d)]);
  return count > 0 ? static_cast<T>(1 / count) : T{0};
}
template <class T>
[[nodiscard]] strided<const T> read_only(const strided<T>& block) noexcept {
  return {block.data, block.extents, block.strides};
}

/// The kernel of complex transforms: the first dimension is read from the operand, the others are
/// transformed within the result.
template <bool IsInverse>
struct complex_fourier_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    in_compute_type<T, 1>(call, [&](const auto& from, const auto& to) {
      using C = compute_type<T>;
      const auto& dims = call.how.integers;
      strided<const C> source = from;
      for (const index_t d : dims) {
        const bool is_scaled = d == dims.back() && of_spectra::has_factors(call.how, IsInverse);
        transform_pairs<C>(source, to, static_cast<int>(d), IsInverse,
                           is_scaled ? inverse_factor<C>(dims, from.extents) : C{1});
        source = read_only(to);
      }
    });
  }
};

}  // namespace detail

template <>
struct kernel_of<fft_operation> : detail::complex_fourier_kernel<false> {};
template <>
struct kernel_of<ifft_operation> : detail::complex_fourier_kernel<true> {};

template <>
struct kernel_of<rfft_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    in_compute_type<T, 1>(call, [&](const auto& from, const auto& to) {
      using C = compute_type<T>;
      const auto& dims = call.how.integers;
      const bool is_scaled = detail::of_spectra::has_factors(call.how, false);
      detail::transform_to_half<C>(
          from, to, static_cast<int>(dims.back()), is_scaled,
          is_scaled ? detail::inverse_factor<C>(dims, from.extents) : C{1});
      for (int i = 0; i + 1 < dims.ssize(); ++i)
        detail::transform_pairs<C>(detail::read_only(to), to, static_cast<int>(dims[i]), false,
                                   C{1});
    });
  }
};

template <>
struct kernel_of<irfft_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    in_compute_type<T, 1>(call, [&](const auto& from, const auto& to) {
      using C = compute_type<T>;
      const auto dims = irfft_operation::dims(call.how).integers;
      const bool is_scaled = detail::of_spectra::has_factors(call.how, true);
      // The other dimensions first, in memory of their own.
      scratch_vector<C> memory(static_cast<std::size_t>(dims.ssize() > 1 ? from.size() : 0));
      const strided<C> wide{memory.data(), from.extents, row_major(from.extents)};
      strided<const C> source = from;
      for (int i = 0; i + 1 < dims.ssize(); ++i) {
        detail::transform_pairs<C>(source, wide, static_cast<int>(dims[i]), true, C{1});
        source = detail::read_only(wide);
      }
      detail::transform_from_half<C>(
          source, to, static_cast<int>(dims.back()), is_scaled,
          is_scaled ? detail::inverse_factor<C>(dims, to.extents) : C{1});
    });
  }
};

}  // namespace shardwise
