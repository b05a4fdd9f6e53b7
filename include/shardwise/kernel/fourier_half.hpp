// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fourier_lines.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise::detail {

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

}  // namespace shardwise::detail
