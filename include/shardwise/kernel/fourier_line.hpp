// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/fourier_roots.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace shardwise::detail {

/// The real and the imaginary parts of complex numbers.
template <class T>
struct complex_parts {
  T* re;
  T* im;
  [[nodiscard]] complex_parts swapped() const noexcept { return {im, re}; }
};

/// The step of a Fourier transform that combines `Ways` elements; 0 stands for an odd number that
/// is known at run time.
template <int Ways>
struct fourier_butterfly {
  static constexpr int most = 31;
  static constexpr std::size_t room = Ways == 0 ? most : Ways;

  /// Replaces complex numbers by their transform. `roots` are those of order `ways`; only odd
  /// numbers of elements read them.
  template <class V, class T>
  [[gnu::always_inline]] static void run(complex_of<V>* a, const complex_of<T>* roots,
                                         int ways) noexcept {
    if constexpr (Ways == 2) {
      const complex_of<V> second = a[1];
      a[1] = {a[0].re - second.re, a[0].im - second.im};
      a[0] = {a[0].re + second.re, a[0].im + second.im};
    } else if constexpr (Ways == 4) {
      const complex_of<V> even{a[0].re + a[2].re, a[0].im + a[2].im};
      const complex_of<V> apart{a[0].re - a[2].re, a[0].im - a[2].im};
      const complex_of<V> odd{a[1].re + a[3].re, a[1].im + a[3].im};
      const complex_of<V> turned{a[1].im - a[3].im, a[3].re - a[1].re};  // times -i
      a[0] = {even.re + odd.re, even.im + odd.im};
      a[1] = {apart.re + turned.re, apart.im + turned.im};
      a[2] = {even.re - odd.re, even.im - odd.im};
      a[3] = {apart.re - turned.re, apart.im - turned.im};
    } else {
      run_odd(a, roots, Ways == 0 ? ways : Ways);
    }
  }

 private:
  /// Elements `j` and `ways - j` meet conjugate roots, so their sum is multiplied by the real
  /// part of a root and their difference by its imaginary part.
  template <class V, class T>
  [[gnu::always_inline]] static void run_odd(complex_of<V>* a, const complex_of<T>* roots,
                                             int ways) noexcept {
    const int pairs = ways / 2;
    complex_of<V> sums[most / 2], differences[most / 2];
    complex_of<V> total = a[0];
    for (int j = 1; j <= pairs; ++j) {
      const complex_of<V> one = a[j], other = a[ways - j];
      sums[j - 1] = {one.re + other.re, one.im + other.im};
      differences[j - 1] = {one.re - other.re, one.im - other.im};
      total = {total.re + sums[j - 1].re, total.im + sums[j - 1].im};
    }
    const complex_of<V> first = a[0];
    a[0] = total;
    for (int k = 1; k <= pairs; ++k) {
      complex_of<V> along = first, across{};
      for (int j = 1, at = k; j <= pairs; ++j, at = (at + k) % ways) {
        const V re = packet::pset1<V>(roots[at].re), im = packet::pset1<V>(roots[at].im);
        const complex_of<V> product{differences[j - 1].re * im, differences[j - 1].im * im};
        along = {along.re + sums[j - 1].re * re, along.im + sums[j - 1].im * re};
        across = j == 1 ? product : complex_of<V>{across.re + product.re, across.im + product.im};
      }
      a[k] = {along.re - across.im, along.im + across.re};
      a[ways - k] = {along.re + across.im, along.im - across.re};
    }
  }
};

/// Fourier transforms of several lines at once, whose elements alternate in memory: element `j` of
/// line `b` is at `j * lines + b`. Their length may be any; if it has a large prime factor, the
/// transform is computed as a convolution of a length that is a power of two. Every line is
/// computed in the same way, whatever the others hold.
template <class T>
class fourier_line {
 public:
  fourier_line(index_t length, index_t lines) : length_(length), lines_(lines) {
    if (length < 2) return;
    index_t rest = length;
    for (const int ways : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31})
      for (; rest % ways == 0; rest /= ways) add_stage(ways, rest / ways);
    if (rest > 1) {
      stages_.clear();
      add_convolution();
      return;
    }
    buffer_ = make_scratch<T>(static_cast<std::size_t>(2 * length * lines));
    const fourier_roots roots(length);
    for (stage& at : stages_) {
      const index_t step = length / (at.ways * at.parts);
      for (index_t p = 0; p < at.parts && at.parts > 1; ++p)
        for (int k = 1; k < at.ways; ++k) twiddles_.push_back(roots.template at<T>(p * k * step));
      for (int k = 0; k < at.ways && at.ways % 2 != 0; ++k)
        twiddles_.push_back(roots.template at<T>(k * (length / at.ways)));
    }
  }

  /// Transforms lines, and returns where the results are: in the same memory or in that of this
  /// object. With the parts swapped, in the operand and in the result, it is the inverse transform
  /// without its factor.
  [[nodiscard]] complex_parts<T> run(complex_parts<T> x) const {
    if (convolution_ != nullptr) return convolve(x);
    const index_t all = length_ * lines_;
    if (stages_.empty()) return x;
    complex_parts<T> y{buffer_.get(), buffer_.get() + all};
    const complex_of<T>* twiddles = twiddles_.data();
    index_t inner = lines_;
    for (const stage& at : stages_) {
      run_stage(at, inner, twiddles, x, y);
      std::swap(x, y);
      if (at.parts > 1) twiddles += at.parts * (at.ways - 1);
      if (at.ways % 2 != 0) twiddles += at.ways;
      inner *= at.ways;
    }
    return x;
  }

 private:
  using packet_type = typename vector_of<T>::type;
  static constexpr index_t lanes = sizeof(packet_type) / sizeof(T);

  /// A step of the algorithm of Stockham: transforms of `ways * parts` elements become `ways` as
  /// many transforms of `parts` elements.
  struct stage {
    int ways;
    index_t parts;
  };
  void add_stage(int ways, index_t parts) { stages_.push_back({ways, parts}); }

  static void run_stage(const stage& at, index_t inner, const complex_of<T>* twiddles,
                        const complex_parts<T>& x, const complex_parts<T>& y) {
    if (inner % lanes == 0)
      run_stage_on<packet_type>(at, inner, twiddles, x, y);
    else
      run_stage_on<T>(at, inner, twiddles, x, y);
  }
  template <class V>
  static void run_stage_on(const stage& at, index_t inner, const complex_of<T>* twiddles,
                           const complex_parts<T>& x, const complex_parts<T>& y) {
    switch (at.ways) {
      case 2:
        return combine<2, V>(at, inner, twiddles, x, y);
      case 3:
        return combine<3, V>(at, inner, twiddles, x, y);
      case 4:
        return combine<4, V>(at, inner, twiddles, x, y);
      case 5:
        return combine<5, V>(at, inner, twiddles, x, y);
      default:
        return combine<0, V>(at, inner, twiddles, x, y);
    }
  }
  /// Element `q` of part `p` and each of its peers, `parts` apart, are combined; the results are
  /// neighbours, `inner` apart, and are multiplied by powers of a root.
  template <int Ways, class V>
  static void combine(const stage& at, index_t inner, const complex_of<T>* twiddles,
                      const complex_parts<T>& x, const complex_parts<T>& y) {
    constexpr auto step = static_cast<index_t>(sizeof(V) / sizeof(T));
    const int ways = Ways == 0 ? at.ways : Ways;
    const complex_of<T>* const roots = at.parts > 1 ? twiddles + at.parts * (ways - 1) : twiddles;
    complex_of<V> a[fourier_butterfly<Ways>::room];
    for (index_t p = 0; p < at.parts; ++p) {
      complex_of<V> turns[fourier_butterfly<Ways>::room]{};
      if (at.parts > 1)
        for (int k = 1; k < ways; ++k) {
          const complex_of<T>& turn = twiddles[p * (ways - 1) + k - 1];
          turns[k] = {packet::pset1<V>(turn.re), packet::pset1<V>(turn.im)};
        }
      for (index_t q = 0; q < inner; q += step) {
        for (int j = 0; j < ways; ++j) {
          const index_t from = q + inner * (p + at.parts * j);
          a[j] = {packet::ploadu<V>(x.re + from), packet::ploadu<V>(x.im + from)};
        }
        fourier_butterfly<Ways>::run(a, roots, ways);
        for (int k = 0; k < ways; ++k) {
          const index_t to = q + inner * (ways * p + k);
          complex_of<V> made = a[k];
          if (k > 0 && at.parts > 1)
            made = {a[k].re * turns[k].re - a[k].im * turns[k].im,
                    a[k].re * turns[k].im + a[k].im * turns[k].re};
          packet::pstoreu(y.re + to, made.re);
          packet::pstoreu(y.im + to, made.im);
        }
      }
    }
  }

  /// Prepares the algorithm of Bluestein: with `j k = (j^2 + k^2 - (k - j)^2) / 2` the transform is
  /// a convolution with the roots of twice the order whose exponents are squares.
  void add_convolution() {
    index_t padded = 1;
    while (padded < 2 * length_ - 1) padded *= 2;
    convolution_ = std::make_unique<fourier_line>(padded, lines_);
    const auto all = static_cast<std::size_t>(padded * lines_);
    buffer_ = make_scratch<T>(2 * all);
    const fourier_roots roots(2 * length_);
    for (index_t k = 0; k < length_; ++k)
      chirp_.push_back(roots.template at<T>(k * k % (2 * length_)));
    // In the memory of the first line only: the same for all of them.
    scratch_vector<T> memory(static_cast<std::size_t>(2 * padded), T{0});
    const complex_parts<T> one{memory.data(), memory.data() + padded};
    for (index_t k = 0; k < length_; ++k) {
      const index_t mirrored = k == 0 ? 0 : padded - k;
      const complex_of<T>& root = chirp_[static_cast<std::size_t>(k)];
      one.re[k] = one.re[mirrored] = root.re;
      one.im[k] = one.im[mirrored] = -root.im;
    }
    const fourier_line single(padded, 1);
    const complex_parts<T> made = single.run(one);
    const T scale = T{1} / static_cast<T>(padded);
    for (index_t k = 0; k < padded; ++k)
      response_.push_back({made.re[k] * scale, made.im[k] * scale});
  }
  [[nodiscard]] complex_parts<T> convolve(const complex_parts<T>& x) const {
    const index_t padded = convolution_->length_;
    const complex_parts<T> wide{buffer_.get(), buffer_.get() + padded * lines_};
    multiply(length_, chirp_.data(), x, wide);
    for (index_t i = length_ * lines_; i < padded * lines_; ++i) wide.re[i] = wide.im[i] = T{0};
    const complex_parts<T> spectrum = convolution_->run(wide);
    multiply(padded, response_.data(), spectrum, wide);
    const complex_parts<T> made = convolution_->run(wide.swapped()).swapped();
    multiply(length_, chirp_.data(), made, x);
    return x;
  }
  /// Multiplies the elements of each line by the same numbers.
  void multiply(index_t count, const complex_of<T>* by, const complex_parts<T>& x,
                const complex_parts<T>& y) const noexcept {
    for (index_t k = 0; k < count; ++k)
      for (index_t i = k * lines_; i < (k + 1) * lines_; ++i) {
        const complex_of<T> a{x.re[i], x.im[i]};
        y.re[i] = a.re * by[k].re - a.im * by[k].im;
        y.im[i] = a.re * by[k].im + a.im * by[k].re;
      }
  }

  index_t length_;
  index_t lines_;
  scratch_vector<stage> stages_{};
  scratch_vector<complex_of<T>> twiddles_{};
  scratch_array<T> buffer_{};
  std::unique_ptr<fourier_line> convolution_{};
  scratch_vector<complex_of<T>> chirp_{};
  scratch_vector<complex_of<T>> response_{};
};

}  // namespace shardwise::detail
