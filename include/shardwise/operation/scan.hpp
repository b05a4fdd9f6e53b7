// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/over.hpp"

namespace shardwise {

/// The common part of operations that reduce all elements up to each one along a dimension, which
/// is their only integer. Scanning a value that is pending with the same reduction gives a result
/// that is pending with it.
template <fixed_string Name, reduction Kind>
struct running_operation {
  static constexpr text_view name = Name;
  static constexpr dims_among names{.count = 1};
  static constexpr reduction kind = Kind;

  /// True for the elements that are scanned: numbers.
  [[nodiscard]] static constexpr bool takes(element type) noexcept {
    return type != element::boolean;
  }
  [[nodiscard]] static constexpr attributes how(int dim) noexcept {
    return integer_attributes(dim);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(law_of(Kind), operands[0].rank());
    out.factors[how.integers[0]] = factor_kind::need_replication;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  /// One operation for each element.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
};

/// The common part of what the gradients of such operations append. The first operand is the
/// scanned tensor; the second one, which is distributed or selected, has `Flops` operations for
/// each element.
template <fixed_string Name, index_t Flops>
struct scan_gradient {
  static constexpr text_view name = Name;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::nonlinear, operands[0].rank());
    out.factors[how.integers[0]] = factor_kind::need_replication;
    out.operands.push_back(out.operands[0]);
    return out;
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = Flops * largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
};

/// An operation along dimension `Dim` whose attributes are types.
template <class Class, int Dim>
struct applied_along {
  using operation_class = Class;
  static constexpr attributes how = Class::how(Dim);
};

}  // namespace shardwise
