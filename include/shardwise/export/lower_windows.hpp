// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lower_shapes.hpp"
#include "shardwise/operation/convolution.hpp"
#include "shardwise/operation/interpolated_positions.hpp"
#include "shardwise/operation/stencil.hpp"

#include <vector>

namespace shardwise::internal::window_lowerings {

using dims = std::vector<index_t>;

/// The numbers of a convolution as StableHLO names them, one of each for a spatial dimension.
struct convolution_numbers {
  dims strides{}, padding{}, lhs_dilation{}, rhs_dilation{};
  index_t feature_groups = 1, batch_groups = 1;

  void add(index_t stride, index_t low, index_t high, index_t spacing, index_t distance) {
    strides.push_back(stride);
    padding.push_back(low);
    padding.push_back(high);
    lhs_dilation.push_back(spacing);
    rhs_dilation.push_back(distance);
  }
};
/// Appends a convolution; the first two letters of each operand are `b`, `f`, `i` and `o`.
inline mlir_value convolve(lowering& at, const mlir_value& lhs, const mlir_value& rhs,
                           const mlir_type& made, const convolution_numbers& numbers,
                           const std::string& of_lhs = "b, f", const std::string& of_rhs = "o, i",
                           const std::string& of_result = "b, f") {
  std::string spatial;
  for (std::size_t d = 0; d < numbers.strides.size(); ++d) spatial += ", " + std::to_string(d);
  const std::string layout = "dimension_numbers = #stablehlo.conv<[" + of_lhs + spatial + "]x[" +
                             of_rhs + spatial + "]->[" + of_result + spatial + "]>";
  return at.op("convolution", {lhs, rhs}, made,
               "window_strides = " + mlir_array(numbers.strides) +
                   ", padding = " + mlir_pairs(numbers.padding) +
                   ", lhs_dilation = " + mlir_array(numbers.lhs_dilation) +
                   ", rhs_dilation = " + mlir_array(numbers.rhs_dilation) + ", " + layout +
                   ", feature_group_count = " + mlir_count(numbers.feature_groups) +
                   ", batch_group_count = " + mlir_count(numbers.batch_groups));
}

/// The groups that the operands here have: fewer if the channels are those of one device.
inline index_t groups_here(lowering& at, const mlir_value& channels_of, index_t whole) {
  const index_t groups = window_attributes::groups(at.how());
  return whole == 0 ? groups : groups * channels_of.type.extents[1] / whole;
}
inline mlir_values convolution(lowering& at) {
  convolution_numbers numbers;
  const int count = at.in().type.rank() - 2;
  for (int d = 0; d < count; ++d) {
    const window_numbers one = window_attributes::at(at.how(), count, d);
    numbers.add(one.stride, one.low, one.high, one.spacing, one.extent);
  }
  if (window_attributes::groups(at.how()) > 1)
    numbers.feature_groups = groups_here(at, at.in(), at.operands()[0].extents[1]);
  return {convolve(at, at.in(0), at.in(1), at.result(), numbers)};
}
/// The cotangent of the weights: a convolution over the batch, with strides and distances of the
/// weights exchanged.
inline mlir_values convolution_weights(lowering& at) {
  convolution_numbers numbers;
  for (int d = 0; d < at.in().type.rank() - 2; ++d) {
    const window_numbers one =
        convolution_weights_operation::numbers_at(at.how(), at.operands(), d);
    numbers.add(one.extent, one.low, one.high, one.spacing, one.stride);
  }
  if (window_attributes::groups(at.how()) > 1)
    numbers.batch_groups = groups_here(at, at.in(), at.operands()[0].extents[1]);
  return {convolve(at, at.in(0), at.in(1), at.result(), numbers, "f, b", "i, o", "f, b")};
}

/// Returns a grid with its leading dimensions as one batch, and one channel.
inline mlir_value as_images(lowering& at, const mlir_value& grid, int spatial) {
  index_t batch = 1;
  const int leading = grid.type.rank() - spatial;
  for (int d = 0; d < leading; ++d) batch *= grid.type.extents[d];
  extents_desc extents{batch, 1};
  for (int d = leading; d < grid.type.rank(); ++d) extents.push_back(grid.type.extents[d]);
  return at.reshape(grid, extents);
}
inline mlir_values stencil(lowering& at) {
  const int spatial = at.in(1).type.rank();
  const mlir_value grid = as_images(at, at.in(0), spatial);
  const mlir_value weights = as_images(at, at.in(1), spatial);
  convolution_numbers numbers;
  extents_desc made{grid.type.extents[0], 1};
  for (int d = 0; d < spatial; ++d) {
    const window_numbers one = stencil_operation::numbers_at(at.how(), at.in(1).type.extents, d);
    numbers.add(1, one.low, one.high, 1, one.extent);
    made.push_back(at.result().extents[at.result().rank() - spatial + d]);
  }
  const mlir_value sums = convolve(at, grid, weights, grid.type.sized(made), numbers);
  return {at.reshape(sums, at.result().extents)};
}
inline mlir_values stencil_weights(lowering& at) {
  const int spatial = stencil_weights_operation::dimensions(at.how());
  const mlir_value grid = as_images(at, at.in(0), spatial);
  const mlir_value cotangent = as_images(at, at.in(1), spatial);
  convolution_numbers numbers;
  extents_desc made{1, 1};
  for (int d = 0; d < spatial; ++d) {
    const window_numbers one = stencil_weights_operation::numbers_at(at.how(), d).first;
    numbers.add(one.extent, one.low, one.high, 1, 1);
    made.push_back(at.result().extents[d]);
  }
  const mlir_value sums =
      convolve(at, grid, cotangent, grid.type.sized(made), numbers, "f, b", "i, o", "f, b");
  return {at.reshape(sums, at.result().extents)};
}

/// Multiplies by the matrix of weights along each dimension that changes its size.
inline mlir_values interpolate(lowering& at) {
  using what = interpolate_operation;
  mlir_value x = at.in();
  if (!is_mlir_float(x.type.element)) x = at.convert(x, "f64");
  for (const int d : what::order(at.in().type.extents, at.result().extents)) {
    const index_t from = x.type.extents[d], to = at.result().extents[d];
    const bool is_transposed = what::is_transposed(at.how());
    const interpolated_positions places{what::method(at.how()), what::is_aligned(at.how()),
                                        is_transposed ? to : from, is_transposed ? from : to};
    std::vector<double> weights(static_cast<std::size_t>(from * to), 0.0);
    for (index_t i = 0; i < places.new_size; ++i)
      places.for_each_weight(i, [&](index_t k, double weight) {
        weights[static_cast<std::size_t>(is_transposed ? k * from + i : i * from + k)] += weight;
      });
    std::string numbers;
    for (const double weight : weights)
      numbers += (numbers.empty() ? "" : ", ") + mlir_literal(weight, x.type.element);
    const mlir_type line{x.type.element, {from * to}};
    const mlir_value flat =
        at.op("constant", {}, line,
              "value = dense<" + (numbers.empty() ? numbers : '[' + numbers + ']') +
                  "> : " + to_text(line));
    const mlir_value matrix = at.reshape(flat, {to, from});
    const mlir_value sums = at.dot(matrix, x, {}, {}, {1}, {d});
    // The new dimension is the first.
    dims order;
    for (int k = 0; k < x.type.rank(); ++k) order.push_back(k == d ? 0 : k < d ? k + 1 : k);
    x = at.transpose(sums, order);
  }
  return {at.convert(x, at.result().element)};
}

}  // namespace shardwise::internal::window_lowerings
