// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/operation.hpp"

namespace shardwise {

/// The dimension over which a function is mapped: how many elements it has, and how they are split.
struct batch_dim {
  index_t size = 0;
  axis_list axes{};
  grain cut{};
  bool uneven = false;

  friend constexpr bool operator==(const batch_dim&, const batch_dim&) = default;
};

/// Returns dimension `d` of a tensor as a batch.
[[nodiscard]] constexpr batch_dim batch_of(const tensor_desc& tensor, int d) noexcept {
  return {tensor.extents[d], tensor.layout.dims[d], tensor.layout.grains[d], tensor.layout.uneven};
}

/// Returns what one element of a batch is: the tensor without dimension `d`. The axes that split
/// the batch do not occur in its layout.
///
///     f32[32@data, 8, 4@model] without dimension 0   is   f32[8, 4@model]
[[nodiscard]] constexpr tensor_desc without_dim(const tensor_desc& tensor, int d) noexcept {
  tensor_desc out = tensor;
  out.extents.clear();
  out.layout.dims.clear();
  for (grain& each : out.layout.grains) each = {};
  for (int from = 0; from < tensor.rank(); ++from) {
    if (from == d) continue;
    out.layout.grains[out.extents.size()] = tensor.layout.grains[from];
    out.extents.push_back(tensor.extents[from]);
    out.layout.dims.push_back(tensor.layout.dims[from]);
  }
  return out;
}

/// Returns what a value is for one element of a batch.
[[nodiscard]] constexpr tensor_desc tensor_of_each(const tensor_desc& whole,
                                                   bool is_mapped) noexcept {
  return is_mapped ? without_dim(whole, 0) : whole;
}

/// Returns a batch of tensors, with the batch as dimension 0. The axes that split the batch must
/// not occur in the layout of its elements: see `axis_of_batch`.
[[nodiscard]] constexpr tensor_desc with_batch(const batch_dim& batch,
                                               const tensor_desc& element) noexcept {
  tensor_desc out = element;
  out.extents = {batch.size};
  out.layout.dims.clear();
  out.layout.dims.push_back(batch.axes);
  out.layout.grains[0] = batch.cut;
  for (int d = 0; d < element.rank(); ++d) {
    out.extents.push_back(element.extents[d]);
    out.layout.dims.push_back(element.layout.dims[d]);
    out.layout.grains[d + 1] = element.layout.grains[d];
  }
  out.layout.uneven = element.layout.uneven || (batch.uneven && !batch.axes.empty());
  return out;
}

/// Returns the first axis of a batch that the layout of its elements uses too, or -1: one that
/// splits a dimension, is pending or manual.
[[nodiscard]] constexpr int axis_of_batch(const batch_dim& batch,
                                          const layout_desc& element) noexcept {
  for (std::uint8_t a : batch.axes)
    if (element.dim_of(a) >= 0 || ((unsigned{element.pending} | element.manual) >> a & 1U) != 0)
      return a;
  return -1;
}

/// Returns the rule of an operation that is applied to each element of a batch: one more factor,
/// the last, which the result and the operands whose bits are set have as their first dimension.
///
///     ([i,k]) -> ([i])   becomes   ([b,i,k]) -> ([b,i])
[[nodiscard]] constexpr factor_rule batched_rule(factor_rule rule, unsigned mapped) noexcept {
  const auto batch = static_cast<std::uint8_t>(rule.factors.size());
  const auto lead = [&](factor_map& map) {
    factor_map led{batch};
    for (std::uint8_t f : map) led.push_back(f);
    map = led;
  };
  rule.factors.push_back(factor_kind::pass_through);
  for (int k = 0; k < rule.operands.ssize(); ++k)
    if ((mapped >> k & 1U) != 0) lead(rule.operands[k]);
  lead(rule.result);
  return rule;
}

/// Undoes `batched_rule`.
[[nodiscard]] constexpr factor_rule rule_of_each(factor_rule rule, unsigned mapped) noexcept {
  const auto follow = [](factor_map& map) {
    factor_map rest;
    for (int d = 1; d < map.ssize(); ++d) rest.push_back(map[d]);
    map = rest;
  };
  rule.factors.pop_back();
  for (int k = 0; k < rule.operands.ssize(); ++k)
    if ((mapped >> k & 1U) != 0) follow(rule.operands[k]);
  follow(rule.result);
  return rule;
}

}  // namespace shardwise
