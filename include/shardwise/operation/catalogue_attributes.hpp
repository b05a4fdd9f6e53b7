// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/contraction_on_paper.hpp"
#include "shardwise/operation/convolution.hpp"
#include "shardwise/operation/convolution_transpose.hpp"
#include "shardwise/operation/einsum_operation.hpp"
#include "shardwise/operation/interpolate.hpp"
#include "shardwise/operation/one_hot.hpp"
#include "shardwise/operation/out_of_range.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/pad.hpp"
#include "shardwise/operation/parameter.hpp"
#include "shardwise/operation/pool.hpp"
#include "shardwise/operation/products.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/repeat_counts.hpp"
#include "shardwise/operation/scatter.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/operation/take.hpp"

namespace shardwise::detail {

/// Returns the attributes of a reduction; if no dimensions are given, all are reduced.
template <reduction Kind>
[[nodiscard]] constexpr attributes reduction_how(const operation_arguments& given,
                                                 const tensor_descs& operands) noexcept {
  const over dims =
      given.has("dims") ? over(given.integers("dims")) : over::all(operands[0].rank());
  attributes out = reduction_operation::how(Kind, dims.bits(), given.has("keep_dims"));
  out.number = static_cast<double>(given.integer("correction"));
  return out;
}
template <scatter_mode Mode>
[[nodiscard]] constexpr attributes scatter_how(const operation_arguments& given,
                                               const tensor_descs&) noexcept {
  return scatter_operation::how(static_cast<int>(given.integer("dim")), Mode,
                                static_cast<out_of_range>(given.integer("out_of_range")));
}
[[nodiscard]] constexpr attributes contraction_how(text_view equation, index_t semiring,
                                                   const tensor_descs& operands) noexcept {
  operand_extents extents;
  for (const tensor_desc& x : operands) extents.push_back(x.extents);
  return contraction_judge::how(named_dimensions(equation, extents), semiring);
}
[[nodiscard]] constexpr attributes einsum_how(const operation_arguments& given,
                                              const tensor_descs& operands) noexcept {
  attributes out = contraction_how(given.words("equation"), given.integer("semiring"), operands);
  if (given.has("type")) out.integers.push_back(given.integer("type"));
  return out;
}
template <fixed_string Equation>
[[nodiscard]] constexpr attributes product_how(const operation_arguments&,
                                               const tensor_descs& operands) noexcept {
  return contraction_how(Equation, 0, operands);
}
[[nodiscard]] constexpr attributes matmul_how(const operation_arguments&,
                                              const tensor_descs& operands) noexcept {
  return contraction_how(matmul_equation(operands[0].rank(), operands[1].rank()), 0, operands);
}
/// The default is the last dimension of each operand.
[[nodiscard]] constexpr attributes cross_how(const operation_arguments& given,
                                             const tensor_descs&) noexcept {
  return integer_attributes(given.integer("dim", -1));
}
/// An embedding looks up rows.
[[nodiscard]] constexpr attributes embedding_how(const operation_arguments& given,
                                                 const tensor_descs&) noexcept {
  return take_operation::how(0, static_cast<out_of_range>(given.integer("out_of_range")));
}
[[nodiscard]] constexpr attributes slice_how(const operation_arguments& given,
                                             const tensor_descs&) noexcept {
  return slice_operation::how(static_cast<int>(given.integer("dim")),
                              given.integer("begin", open_end), given.integer("end", open_end),
                              given.integer("step", 1));
}
/// The default end of a slice is the end of the dimension.
[[nodiscard]] constexpr attributes index_how(const operation_arguments& given,
                                             const tensor_descs&) noexcept {
  const index_t at = given.integer("index");
  return slice_operation::how(static_cast<int>(given.integer("dim")), at,
                              at == -1 ? open_end : size_sum(1, at), 1, true);
}
[[nodiscard]] constexpr attributes pad_how(const operation_arguments& given,
                                           const tensor_descs&) noexcept {
  attributes out;
  out.integers = given.integers("amounts");
  out.number = static_cast<double>(given.integer("mode"));
  return out;
}
[[nodiscard]] constexpr attributes repeat_counts_how(const operation_arguments& given,
                                                     const tensor_descs&) noexcept {
  return repeat_counts_operation::how(given.integer("dim"), given.integers("counts"));
}
[[nodiscard]] constexpr attributes convolution_how(const operation_arguments& given,
                                                   const tensor_descs&) noexcept {
  return window_attributes::from(given.integers("stride"), given.integers("padding"),
                                 given.integers("dilation"), given.integer("groups", 1));
}
[[nodiscard]] constexpr attributes transposed_how(const operation_arguments& given,
                                                  const tensor_descs& operands) noexcept {
  transposed_options all;
  all.strides = given.integers("stride");
  all.paddings = given.integers("padding");
  all.dilations = given.integers("dilation");
  all.further = given.integers("output_padding");
  all.groups = given.integer("groups", 1);
  return all.how(operands[1].extents);
}
[[nodiscard]] constexpr attributes stencil_how(const operation_arguments& given,
                                               const tensor_descs&) noexcept {
  return window_attributes::from({}, given.integers("padding"), given.integers("dilation"), 1);
}
[[nodiscard]] constexpr attributes barrier_how(const operation_arguments& given,
                                               const tensor_descs&) noexcept {
  return integer_attributes(given.integer("flow"));
}
template <reduction Kind>
[[nodiscard]] constexpr attributes pool_how(const operation_arguments& given,
                                            const tensor_descs&) noexcept {
  return pool_operation::how(
      window_attributes::from(given.integers("stride"), given.integers("padding"),
                              given.integers("window"), 1),
      Kind, Kind == reduction::sum);
}
[[nodiscard]] constexpr attributes interpolate_how(const operation_arguments& given,
                                                   const tensor_descs&) noexcept {
  attributes out = interpolate_operation::how(static_cast<interpolation>(given.integer("method")),
                                              given.has("align_corners"));
  for (const index_t size : given.integers("sizes"))
    if (!out.integers.full()) out.integers.push_back(size);
  return out;
}
[[nodiscard]] constexpr attributes one_hot_how(const operation_arguments& given,
                                               const tensor_descs&) noexcept {
  return one_hot_operation::how(given.integer("classes"),
                                static_cast<element>(given.integer("type")));
}

}  // namespace shardwise::detail
