// SPDX-License-Identifier: BSL-1.0
// Rows of Fourier transforms, whose loops are sums by their definition.
#include "property/rows/tables.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace generated {

/// The sums of `x[j] exp(sign 2 pi i j k / n)` along a dimension of pairs.
inline host_array spectrum_along(const host_array& x, int dim, int sign) {
  host_array out(x.extents, element::f64);
  const index_t n = x.extents[dim];
  for (index_t i = 0; i < out.size(); i += 2) {
    std::vector<index_t> at = out.index_of(i);
    const index_t k = at[static_cast<std::size_t>(dim)];
    std::complex<long double> sum = 0;
    for (index_t j = 0; j < n; ++j) {
      at[static_cast<std::size_t>(dim)] = j;
      const index_t from = x.place_of(at);
      const long double angle = sign * 2 * std::acos(-1.0L) * static_cast<long double>(j * k % n) /
                                static_cast<long double>(n);
      sum += std::complex<long double>(x[from], x[from + 1]) * std::polar(1.0L, angle);
    }
    out[i] = static_cast<double>(sum.real());
    out[i + 1] = static_cast<double>(sum.imag());
  }
  return out;
}
inline double element_number(const extents_desc& extents, const std::vector<int>& dims) {
  double count = 1;
  for (const int d : dims) count *= static_cast<double>(extents[d]);
  return count;
}

inline auto fourier_loop(std::vector<int> dims, bool is_inverse) {
  return [=](const row_arrays& given) {
    host_array x = given[0];
    for (const int d : dims) x = spectrum_along(x, d, is_inverse ? 1 : -1);
    for (double& e : x.values) e /= is_inverse ? element_number(x.extents, dims) : 1;
    return row_arrays{x};
  };
}
/// The first half of the transform of numbers whose imaginary parts are 0.
inline auto half_fourier_loop(std::vector<int> dims) {
  return [=](const row_arrays& given) {
    extents_desc pairs = given[0].extents;
    pairs.push_back(2);
    host_array x(pairs, element::f64);
    for (index_t i = 0; i < given[0].size(); ++i) x[2 * i] = given[0][i];
    for (const int d : dims) x = spectrum_along(x, d, -1);
    pairs[dims.back()] = pairs[dims.back()] / 2 + 1;
    host_array out(pairs, element::f64);
    for (index_t i = 0; i < out.size(); ++i) out[i] = x.at(out.index_of(i));
    return row_arrays{out};
  };
}
/// The real parts of the inverse transform of a half and its conjugates.
inline auto real_fourier_loop(std::vector<int> dims, index_t length) {
  return [=](const row_arrays& given) {
    const int halved = dims.back();
    host_array x = given[0];
    for (std::size_t d = 0; d + 1 < dims.size(); ++d) x = spectrum_along(x, dims[d], 1);
    extents_desc whole = x.extents;
    whole[halved] = length;
    host_array all(whole, element::f64);
    for (index_t i = 0; i < all.size(); ++i) {
      std::vector<index_t> at = all.index_of(i);
      index_t& k = at[static_cast<std::size_t>(halved)];
      const bool is_conjugate = k > length / 2, is_alone = k == 0 || 2 * k == length;
      if (is_conjugate) k = length - k;
      const bool is_imaginary = at.back() == 1;
      all[i] = is_imaginary && is_alone ? 0 : x.at(at) * (is_imaginary && is_conjugate ? -1 : 1);
    }
    all = spectrum_along(all, halved, 1);
    whole.pop_back();
    host_array out(whole, element::f64);
    for (index_t i = 0; i < out.size(); ++i) out[i] = all[2 * i] / element_number(whole, dims);
    return row_arrays{out};
  };
}

std::vector<operation_row> fourier_rows() {
  std::vector<operation_row> rows;
  using tensor = any_tensor<double>;
  static constexpr auto all = across<"x", "y", "z">;
  const auto add = [&](std::string name, extents_desc extents, auto f, auto loop) {
    rows.push_back({.name = std::move(name),
                    .operands = {{extents, between(-1, 1)}},
                    .apply = [=](const row_tensors& x) -> row_tensors {
                      const tensor given = x[0].as<>();
                      return {f(given)};
                    },
                    .loop = loop,
                    .error = 1e-13,
                    .rounding = 1e-13,
                    .is_differentiable = true});
  };

  add(
      "fft", {3, 5, 2}, [](const tensor& x) { return fourier::fft<1>(x); },
      fourier_loop({1}, false));
  add(
      "fft of other dimensions", {4, 3, 2}, [](const tensor& x) { return fourier::fft<1, 0>(x); },
      fourier_loop({1, 0}, false));
  add(
      "fft across", {4, 3, 2}, [](const tensor& x) { return fourier::fft<0>(x, all); },
      fourier_loop({0}, false));
  add(
      "ifft", {3, 6, 2}, [](const tensor& x) { return fourier::ifft<1>(x); },
      fourier_loop({1}, true));
  add(
      "ifft of two dimensions", {2, 3, 2},
      [](const tensor& x) { return fourier::ifft<0, 1>(x, all); }, fourier_loop({0, 1}, true));

  add(
      "rfft of an even length", {3, 6}, [](const tensor& x) { return fourier::rfft<1>(x); },
      half_fourier_loop({1}));
  add(
      "rfft of an odd length", {5, 3}, [](const tensor& x) { return fourier::rfft<0>(x); },
      half_fourier_loop({0}));
  add(
      "rfft of two dimensions", {4, 5}, [](const tensor& x) { return fourier::rfft<1, 0>(x, all); },
      half_fourier_loop({1, 0}));

  add(
      "irfft of an even length", {3, 4, 2}, [](const tensor& x) { return fourier::irfft<1>(x); },
      real_fourier_loop({1}, 6));
  add(
      "irfft of an odd length", {3, 3, 2},
      [](const tensor& x) { return fourier::irfft<0>(x, fourier::length<5>); },
      real_fourier_loop({0}, 5));
  add(
      "irfft of two dimensions", {3, 3, 2},
      [](const tensor& x) { return fourier::irfft<0, 1>(x, fourier::length<5>, all); },
      real_fourier_loop({0, 1}, 5));
  return rows;
}

}  // namespace generated
