// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/search.hpp"

namespace shardwise {

/// The maximum or minimum along a dimension and its index. Its integers are the dimension and, if
/// parts are searched separately, their number: the result then has one element for each part. A
/// second operand has the indices of the elements of the first. The second result holds indices.
template <fixed_string Name, reduction Kind>
struct extreme_with_index {
  static constexpr text_view name = Name;
  static constexpr dims_among names{.count = 1};
  static constexpr reduction kind = Kind;

  [[nodiscard]] static constexpr attributes how(int dim) noexcept {
    return integer_attributes(dim);
  }
  [[nodiscard]] static constexpr attributes in_parts(const attributes& whole,
                                                     index_t parts) noexcept {
    return integer_attributes(whole.integers[0], parts);
  }
  /// The dimension, or each part of it, must not be split, since there is no pending reduction of
  /// pairs.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = reduction_rule(Kind, rank, 1U << dim);
    out.law = linearity::nonlinear;
    if (how.integers.size() == 1) {
      out.factors[dim] = factor_kind::need_replication;
    } else {
      const auto part = static_cast<std::uint8_t>(out.factors.ssize());
      const auto inner = static_cast<std::uint8_t>(part + 1);
      out.factors[dim] = factor_kind::pass_through;
      out.factors.push_back(factor_kind::pass_through);
      out.factors.push_back(factor_kind::need_replication);
      out.composites.push_back(
          {static_cast<std::uint8_t>(dim), composition::product, {part, inner}});
      out.sizes = out.given_sizes();
      out.sizes[part] = how.integers[1];
      out.result = out.operands[0];
      out.result[dim] = part;
    }
    if (operands.size() > 1) out.operands.push_back(out.operands[0]);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike({operands[0]});
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    if (how.integers.size() == 1) return words_of(name, how);
    bounded_text<47> words;
    words << name << ' ' << how.integers[0] << " in " << how.integers[1] << " parts";
    return words;
  }

  using emits =
      emitted_operations<cumsum_operation, reshape_operation, pointwise<functions::logical_and>>;
  /// The element that was found, the first of equal ones, gets the whole cotangent.
  static constexpr void gradient(gradient_step& at) {
    if (!at.wants(0)) return;
    const extents_desc whole = at.operand(0).tensor().extents;
    const auto& numbers = at.how().integers;
    const internal::parted_dimension parted(whole, static_cast<int>(numbers[0]),
                                            numbers.size() > 1 ? numbers[1] : 0);
    const extents_desc found = parted.found(1);
    const gradient_value x = internal::shaped(at.rounded(at.operand(0)), parted.extents);
    const gradient_value best =
        elementwise<functions::equal>(x, internal::shaped(at.result(), found));
    const gradient_value so_far =
        emit<cumsum_operation>(cumsum_operation::how(parted.dim), masked(at.number(1, x), best));
    const gradient_value first = elementwise<functions::logical_and>(
        best, elementwise<functions::equal>(so_far, at.number(1, x)));
    at.give(0, internal::shaped(masked(internal::shaped(at.cotangent(), found), first), whole));
  }

  [[nodiscard]] static constexpr index_t parts_of(const mesh_desc& mesh, const tensor_desc& x,
                                                  const attributes& how,
                                                  unsigned permitted) noexcept {
    return searched_parts(mesh, x, how.integers[0], permitted);
  }
};
struct max_with_index_operation : extreme_with_index<"max_with_index", reduction::max> {};
struct min_with_index_operation : extreme_with_index<"min_with_index", reduction::min> {};

/// The operations whose attributes are types.
template <int Dim>
struct max_with_index_of {
  using operation_class = max_with_index_operation;
  static constexpr attributes how = max_with_index_operation::how(Dim);
};
template <int Dim>
struct min_with_index_of {
  using operation_class = min_with_index_operation;
  static constexpr attributes how = min_with_index_operation::how(Dim);
};

/// Returns the maxima along a dimension and their indices, those of the first of equal elements;
/// NaN counts as the largest value. If there are no elements, the result is the lowest value, with
/// index -1. The dimension must not be split.
///
///     auto [best, at] = max_with_index<1>(scores);   // f32[8@data], i64[8@data]
///
/// If the dimension is split, name its mesh axes with `across`. If the split is even, each device
/// searches its own part, and the candidates are gathered; otherwise the dimension is gathered.
///
///     auto [best, at] = max_with_index<1>(logits, across<"model">);
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    internal::search_call<max_with_index_of<Dim>, internal::permitted_by<Given>>, Given, X>
max_with_index(X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      internal::search_call<max_with_index_of<Dim>, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}
/// Returns the minima along a dimension and their indices, like `max_with_index`; NaN counts as the
/// smallest value.
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    internal::search_call<min_with_index_of<Dim>, internal::permitted_by<Given>>, Given, X>
min_with_index(X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      internal::search_call<min_with_index_of<Dim>, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}
/// Returns the indices of the maxima along a dimension, those of the first of equal elements; see
/// `max_with_index`.
///
///     auto classes = argmax<1>(logits);              // i64[8@data]
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    internal::place_call<max_with_index_of<Dim>, internal::permitted_by<Given>>, Given, X>
argmax(X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      internal::place_call<max_with_index_of<Dim>, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}
/// Returns the indices of the minima along a dimension, those of the first of equal elements.
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    internal::place_call<min_with_index_of<Dim>, internal::permitted_by<Given>>, Given, X>
argmin(X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      internal::place_call<min_with_index_of<Dim>, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

}  // namespace shardwise
