// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lower_shapes.hpp"
#include "shardwise/operation/fourier_operation.hpp"

namespace shardwise::internal::algebra_lowerings {

using dims = std::vector<index_t>;

/// An operation without a counterpart: a call of its name, with its integers and its words.
inline mlir_values without_counterpart(lowering& at) {
  const std::string name(at.what().name.data(), at.what().name.size());
  std::string target = "shardwise." + name;
  for (char& c : target)
    if (c == ' ') c = '_';
  std::string how = comma_separated(at.how().integers);
  if (!at.how().words.empty())
    how += (how.empty() ? "" : "; ") + std::string(at.how().words.data(), at.how().words.size());
  std::string attributes = "call_target_name = \"" + target + '"';
  if (!how.empty()) attributes += ", backend_config = \"" + how + '"';
  return at.text().append("stablehlo.custom_call", at.all(), at.results(),
                          attributes + ", api_version = 1 : i32", {});
}

/// The upper triangle of the factor is 0.
inline mlir_values cholesky(lowering& at) {
  const mlir_value made = at.op("cholesky", {at.in()}, at.in().type, "lower = true");
  const mlir_type places = made.type.of("i64");
  const int rank = made.type.rank();
  const mlir_value is_kept = at.compare(at.iota(places, rank - 1), "LE", at.iota(places, rank - 2));
  return {at.select(is_kept, made, at.number(0, made))};
}
/// A vector for each matrix is a matrix of one column.
inline mlir_values triangular_solve(lowering& at) {
  const bool has_columns = at.in(1).type.rank() == at.in(0).type.rank();
  extents_desc columns = at.in(1).type.extents;
  if (!has_columns) columns.push_back(1);
  const mlir_value sides = at.reshape(at.in(1), columns);
  const bool is_upper = at.integer_at(0) != 0, is_transposed = at.integer_at(1) != 0;
  const mlir_value made =
      at.op("triangular_solve", {at.in(0), sides}, sides.type,
            std::string("left_side = true, lower = ") + (is_upper ? "false" : "true") +
                ", unit_diagonal = false, transpose_a = #stablehlo<transpose " +
                (is_transposed ? "TRANSPOSE>" : "NO_TRANSPOSE>"));
  return {at.reshape(made, at.result().extents)};
}

[[nodiscard]] inline std::string_view complex_of(std::string_view element) noexcept {
  return element == "f64" ? "complex<f64>" : "complex<f32>";
}
/// Transforms along one dimension, which is moved to the end and back; the result has `made` there.
inline mlir_value transform(lowering& at, mlir_value x, int dim, std::string_view kind,
                            index_t length, std::string_view element, index_t made) {
  dims order, back;
  const int last = x.type.rank() - 1;
  for (int d = 0; d <= last; ++d) order.push_back(d);
  std::swap(order[static_cast<std::size_t>(dim)], order[static_cast<std::size_t>(last)]);
  x = at.transpose(x, order);
  mlir_type type{element, x.type.extents};
  type.extents[last] = made;
  x = at.op("fft", {x}, type,
            "fft_type = #stablehlo<fft_type " + std::string(kind) +
                ">, fft_length = " + mlir_array(dims{length}));
  return at.transpose(x, order);
}
/// Returns pairs along the last dimension as complex numbers, and the pairs of complex numbers.
inline mlir_value to_complex(lowering& at, const mlir_value& pairs) {
  const int last = pairs.type.rank() - 1;
  extents_desc made = pairs.type.extents;
  made.pop_back();
  const std::string_view part = pairs.type.element == "f64" ? "f64" : "f32";
  const auto of = [&](index_t k) {
    return at.convert(at.reshape(at.slice(pairs, last, k, k + 1), made), part);
  };
  return at.op("complex", {of(0), of(1)}, {complex_of(part), made});
}
inline mlir_value to_pairs(lowering& at, const mlir_value& x, std::string_view element) {
  const std::string_view part = x.type.element == "complex<f64>" ? "f64" : "f32";
  extents_desc made = x.type.extents;
  made.push_back(1);
  const auto of = [&](std::string_view name) {
    return at.convert(at.reshape(at.op(name, {x}, x.type.of(part)), made), element);
  };
  return at.concatenate({of("real"), of("imag")}, x.type.rank());
}
/// Multiplies by a number unless that is 1.
inline mlir_value scaled(lowering& at, const mlir_value& x, double factor) {
  return factor == 1 ? x : at.multiply(x, at.number(factor, x));
}
/// The number of elements of the transformed dimensions.
inline double points(const attributes& how, int count, const extents_desc& extents) {
  double out = 1;
  for (int i = 0; i < count; ++i)
    out *= static_cast<double>(extents[static_cast<int>(how.integers[i])]);
  return out;
}
template <bool Inverse>
mlir_values fourier(lowering& at) {
  mlir_value x = to_complex(at, at.in());
  const int count = at.how().integers.ssize();
  const double size = points(at.how(), count, x.type.extents);
  if (size == 0) return {at.in()};
  for (const index_t d : at.how().integers) {
    const index_t length = x.type.extents[static_cast<int>(d)];
    x = transform(at, x, static_cast<int>(d), Inverse ? "IFFT" : "FFT", length, x.type.element,
                  length);
  }
  // StableHLO divides by the number of elements in the inverse alone.
  const bool divides = of_spectra::has_factors(at.how(), Inverse);
  const double factor = divides == Inverse ? 1 : divides ? 1 / size : size;
  return {scaled(at, to_pairs(at, x, at.in().type.element), factor)};
}
/// Weights of half of a transform: `inner` where the conjugate is in the other half.
inline mlir_value weigh_half(lowering& at, const mlir_value& pairs, int dim, index_t length,
                             double inner) {
  const index_t size = length / 2 + 1;
  const mlir_value place = at.iota({"i64", {size}}, 0);
  mlir_value is_alone = at.compare(place, "EQ", at.integer(0, place.type));
  if (length % 2 == 0)
    is_alone = at.either(is_alone, at.compare(place, "EQ", at.integer(length / 2, place.type)));
  const mlir_type line{pairs.type.element, {size}};
  const mlir_value one = at.spread(at.scalar(1.0, line.element), line.extents);
  const mlir_value weights =
      at.select(is_alone, one, at.spread(at.scalar(inner, line.element), line.extents));
  return at.multiply(pairs, at.spread(weights, pairs.type.extents, {dim}));
}
inline mlir_values rfft(lowering& at) {
  const std::string_view part = at.in().type.element == "f64" ? "f64" : "f32";
  const int count = at.how().integers.ssize();
  const auto halved = static_cast<int>(at.how().integers.back());
  mlir_value x = at.convert(at.in(), part);
  const double size = points(at.how(), count, x.type.extents);
  if (size == 0) return at.refuse("it has no elements");
  const index_t length = x.type.extents[halved];
  x = transform(at, x, halved, "RFFT", length, complex_of(part), length / 2 + 1);
  for (int i = 0; i + 1 < count; ++i) {
    const auto d = static_cast<int>(at.integer_at(i));
    x = transform(at, x, d, "FFT", x.type.extents[d], x.type.element, x.type.extents[d]);
  }
  const bool is_adjoint = at.how().number != 0;
  mlir_value made = to_pairs(at, x, at.in().type.element);
  if (is_adjoint) made = weigh_half(at, made, halved, length, 2);
  return {scaled(at, made, is_adjoint ? 1 / size : 1)};
}
inline mlir_values irfft(lowering& at) {
  const attributes along = irfft_operation::dims(at.how());
  const auto halved = static_cast<int>(along.integers.back());
  const index_t length = at.result().extents[halved];
  const int count = along.integers.ssize();
  const double size = points(along, count, at.result().extents);
  if (size == 0) return at.refuse("it has no elements");
  const bool is_adjoint = at.how().number != 0;
  mlir_value given = at.in();
  if (is_adjoint) given = weigh_half(at, given, halved, length, 0.5);
  mlir_value x = to_complex(at, given);
  for (int i = 0; i + 1 < count; ++i) {
    const auto d = static_cast<int>(along.integers[i]);
    x = transform(at, x, d, "IFFT", x.type.extents[d], x.type.element, x.type.extents[d]);
  }
  const std::string_view part = x.type.element == "complex<f64>" ? "f64" : "f32";
  x = transform(at, x, halved, "IRFFT", length, part, length);
  return {at.convert(scaled(at, x, is_adjoint ? size : 1), at.result().element)};
}

}  // namespace shardwise::internal::algebra_lowerings
