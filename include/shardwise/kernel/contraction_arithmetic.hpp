// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/matrix_product.hpp"
#include "shardwise/kernel/product_tiles.hpp"
#include "shardwise/kernel/reduce_kernel.hpp"
#include "shardwise/kernel/reduction_identity.hpp"
#include "shardwise/operation/semiring.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>

namespace shardwise {

template <reduction Reduce>
struct kernel<functions::add_lengths<Reduce>> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& a, const P& b) noexcept {
    if constexpr (std::integral<P>) {
      using limits = std::numeric_limits<P>;
      constexpr P extreme = identity_of<P>(Reduce);
      const P sum = kernel<functions::add>::run(a, b);
      if constexpr (std::signed_integral<P>) {
        const P passed = static_cast<P>((a ^ sum) & (b ^ sum));
        const P end = a < P{0} ? limits::lowest() : limits::max();
        return a == extreme || b == extreme ? extreme : passed < P{0} ? end : sum;
      } else {
        return sum < a ? limits::max() : sum;
      }
    } else {
      // For infinities of opposite sign, the sum is NaN and the difference an infinity; for a NaN,
      // both are NaN.
      const P sum = kernel<functions::add>::run(a, b);
      const P apart = kernel<functions::abs>::run(kernel<functions::subtract>::run(a, b));
      const P extreme = Reduce == reduction::min ? apart : kernel<functions::negate>::run(apart);
      if constexpr (std::floating_point<P>)
        return sum == sum ? sum : extreme;
      else
        return detail::packet::pselect(detail::packet::pcmp_eq(sum, sum), sum, extreme);
    }
  }
};

/// The arithmetic of a contraction of blocks of `T`: the reduction, whether products distribute
/// over it, the product of two elements, and the product of two usable matrices.
template <class T>
struct contraction_arithmetic {
  reduction reduce;
  const detail::reducer<T>* reducer;
  bool distributes;
  detail::erased_tree<T, 2> product;
  void (*multiply)(const matrix_view<const T>& a, const matrix_view<const T>& b,
                   const matrix_view<T>& out);
};

namespace detail {

template <class S>
using product_tree = fused::call<typename S::times, fused::argument<0>, fused::argument<1>>;
/// The simplified arithmetic of a semiring whose products are sums of lengths without NaN or
/// negative zeros: an extreme is then one instruction.
template <class S>
struct simple_arithmetic {
  static constexpr bool exists = false;
};
template <class S>
  requires std::same_as<typename S::times, functions::add_lengths<S::reduce>>
struct simple_arithmetic<S> {
  static constexpr bool exists = true;
  using times = functions::add;
  using reduce = std::conditional_t<S::reduce == reduction::min, detail::ordered_minimum,
                                    detail::ordered_maximum>;
};

/// Returns true for a matrix of finite numbers and the infinity `extreme`: no sum of two of these
/// is NaN.
template <class T>
[[nodiscard]] bool has_lengths(const matrix_view<const T>& m, T extreme) noexcept {
  for (index_t i = 0; i < m.rows; ++i) {
    bool all = true;
    for (index_t j = 0; j < m.columns; ++j) {
      const T x = m.data[i * m.row_stride + j * m.column_stride];
      all &= x - x == T{0} || x == extreme;
    }
    if (!all) return false;
  }
  return true;
}
/// Returns true if a sum with an element of the matrix may be a negative zero, which only the sum
/// of two negative zeros is.
template <class T>
[[nodiscard]] bool has_negative_zero(const matrix_view<const T>& m) noexcept {
  bool any = false;
  for (index_t i = 0; i < m.rows; ++i)
    for (index_t j = 0; j < m.columns; ++j) {
      const T x = m.data[i * m.row_stride + j * m.column_stride];
      any |= x == T{0} && std::signbit(x);
    }
  return any;
}

/// Reduces `argument<2 * Count>` with `Count` products, each of arguments `2 k` and `2 k + 1`.
template <reduction Reduce, class Times, std::size_t Count>
struct reduced_products {
  using type =
      fused::call<typename function_of_reduction<Reduce>::type,
                  typename reduced_products<Reduce, Times, Count - 1>::type,
                  fused::call<Times, fused::argument<2 * Count - 1>, fused::argument<2 * Count>>>;
};
template <reduction Reduce, class Times>
struct reduced_products<Reduce, Times, 0> {
  using type = fused::argument<0>;
};

/// The number of rows of the right matrix that are combined with a row of the result at once.
inline constexpr index_t rows_at_once = 4;

/// Reduces products onto `out`, by functions of fused trees on its rows and those of `b`.
template <class T>
struct row_products {
  erased_tree<T, 2 * rows_at_once + 1> several;
  erased_tree<T, 3> one;

  void operator()(const product_part<T>& part) const {
    for (index_t i = 0; i < part.out.rows; ++i)
      update(part.a.row_range(i, i + 1), part.b, part.out.data + i * part.out.row_stride);
  }

 private:
  void update(const matrix_view<const T>& a, const matrix_view<const T>& b, T* out) const {
    T factors[rows_at_once][step<T>];
    const T* from[2 * rows_at_once + 1]{out};
    index_t moves[2 * rows_at_once + 1]{step<T>};
    index_t k = 0;
    const auto put = [&](index_t at) {
      std::fill_n(factors[at], step<T>, a.data[(k + at) * a.column_stride]);
      from[2 * at + 1] = factors[at];
      from[2 * at + 2] = b.data + (k + at) * b.row_stride;
      moves[2 * at + 1] = 0;
      moves[2 * at + 2] = step<T>;
    };
    for (; k + rows_at_once <= b.rows; k += rows_at_once) {
      for (index_t at = 0; at < rows_at_once; ++at) put(at);
      several(from, moves, out, b.columns);
    }
    for (; k < b.rows; ++k) {
      put(0);
      one({from[0], from[1], from[2]}, {moves[0], moves[1], moves[2]}, out, b.columns);
    }
  }
};

/// Computes a product over a semiring into a row-major `out`, in blocks: `update(part)` reduces the
/// products of a part onto the values that it holds.
template <class T>
void multiply_rows(reduction reduce, void (*update)(const product_part<T>&),
                   const matrix_view<const T>& a, const matrix_view<const T>& b,
                   const matrix_view<T>& out) {
  const bool packs = b.column_stride != 1 && b.columns > 1;
  const std::unique_ptr<T[]> memory =
      packs ? std::make_unique_for_overwrite<T[]>(
                  static_cast<std::size_t>(rows_in_cache * columns_in_cache))
            : nullptr;
  for (index_t j = 0; j < out.columns; j += columns_in_cache) {
    const index_t width = std::min(columns_in_cache, out.columns - j);
    for (index_t i = 0; i < out.rows; ++i)
      std::fill_n(out.data + i * out.row_stride + j, width, identity_of<T>(reduce));
    for (index_t k = 0; k < b.rows; k += rows_in_cache) {
      const index_t height = std::min(rows_in_cache, b.rows - k);
      matrix_view<const T> part{b.data + k * b.row_stride + j * b.column_stride, height, width,
                                b.row_stride, 1};
      if (packs) {
        copy_block<T>({part.data, {height, width}, {b.row_stride, b.column_stride}},
                      {memory.get(), {height, width}, {width, 1}});
        part.data = memory.get();
        part.row_stride = width;
      }
      update({{a.data + k * a.column_stride, a.rows, height, a.row_stride, a.column_stride},
              part,
              {out.data + j, out.rows, width, out.row_stride, 1}});
    }
  }
}

/// Computes a product whose rows are shorter than a step, one element at a time.
template <class T>
void multiply_lines(const reducer<T>& reduce, const erased_tree<T, 2>& product,
                    const matrix_view<const T>& a, const matrix_view<const T>& b,
                    const matrix_view<T>& out) {
  const inplace_vector<index_t, max_rank> extents{out.rows, out.columns, a.columns};
  const strided<const T> operands[2]{{a.data, extents, {a.row_stride, 0, a.column_stride}},
                                     {b.data, extents, {0, b.column_stride, b.row_stride}}};
  reduce_erased<T, 2>(reduce, product, false, operands,
                      {out.data, extents, {out.row_stride, out.column_stride, 0}}, 4);
}

/// Reduces the products of a part over a semiring onto the values that it holds.
template <class S, class T>
void update_over(const product_part<T>& part) {
  using reduce = typename function_of_reduction<S::reduce>::type;
  if constexpr (std::floating_point<T>) {
    using simple = simple_arithmetic<S>;
    if constexpr (simple::exists) {
      constexpr T extreme = identity_of<T>(S::reduce);
      const bool are_lengths = has_lengths(part.b, extreme);
      for_each_row_group(part, [&](const row_group<T>& rows) {
        if (are_lengths && has_lengths(rows.a, extreme) && !has_negative_zero(rows.a))
          run_tiles<typename simple::reduce, typename simple::times>(rows);
        else
          run_tiles<reduce, typename S::times>(rows);
      });
    } else {
      for_each_row_group(
          part, [](const row_group<T>& rows) { run_tiles<reduce, typename S::times>(rows); });
    }
  } else {
    static constexpr
        typename reduced_products<S::reduce, typename S::times, rows_at_once>::type several{};
    static constexpr typename reduced_products<S::reduce, typename S::times, 1>::type one{};
    row_products<T>{erase<T, 2 * rows_at_once + 1>(several), erase<T, 3>(one)}(part);
  }
}

/// Computes `out = a * b` over a semiring, for usable matrices.
template <class S, class T>
void multiply_over(const matrix_view<const T>& a, const matrix_view<const T>& b,
                   const matrix_view<T>& out) {
  static constexpr product_tree<S> product{};
  if (out.rows == 0 || out.columns == 0) return;
  if (!out.is_row_major())
    return multiply_over<S, T>(b.transposed(), a.transposed(), out.transposed());
  if (out.columns < step<T>)
    return multiply_lines<T>(reducer_with<T, S::reduce>, erase<T, 2>(product), a, b, out);
  multiply_rows<T>(S::reduce, &update_over<S, T>, a, b, out);
}

/// The arithmetic of a semiring on elements of `T`.
template <class S, class T>
[[nodiscard]] contraction_arithmetic<T> arithmetic_of() noexcept {
  static constexpr product_tree<S> product{};
  if constexpr (std::is_same_v<S, plus_times_semiring>)
    return {S::reduce, &reducer_with<T, S::reduce>, S::distributes, erase<T, 2>(product),
            &multiply_matrices<T>};
  else
    return {S::reduce, &reducer_with<T, S::reduce>, S::distributes, erase<T, 2>(product),
            &multiply_over<S, T>};
}

}  // namespace detail
}  // namespace shardwise
