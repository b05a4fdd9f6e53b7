// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/out_of_range.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/pad.hpp"
#include "shardwise/operation/slice.hpp"

#include <cstdint>

namespace shardwise {

namespace internal {

/// Returns zeros with the extents and the layout of a value.
[[nodiscard]] constexpr gradient_value zeros_like(const gradient_value& x) {
  gradient_step& at = *x.step;
  return masked(x, elementwise<functions::greater>(at.number(0, x), at.number(1, x)));
}

}  // namespace internal

struct update_slice_operation;

/// The operation that takes consecutive elements along a dimension, beginning at an index that is
/// its second operand, of rank 0. Its integers are the dimension and the number of elements.
struct dynamic_slice_operation {
  static constexpr text_view name = "dynamic_slice";
  static constexpr dims_among names{.count = 1};
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = same_dimensions_rule(linearity::first_operand, operands[0].rank());
    out.factors[dim] = factor_kind::need_replication;
    out.result[dim] = static_cast<std::uint8_t>(out.factors.ssize());
    out.factors.push_back(factor_kind::pass_through);
    out.sizes = out.given_sizes();
    out.sizes[out.result[dim]] = how.integers[1];
    out.operands.push_back({});
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    if (const diagnosis named = over(dim).judge(operands[0].rank()); !named.ok()) return named;
    const index_t size = operands[0].extents[dim], taken = how.integers[1];
    if (taken >= 0 && (size == dyn || taken <= size)) return {};
    return {.rule = violation::slice_is_out_of_range,
            .operand = 0,
            .dim = dim,
            .have = taken,
            .want = size};
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_indices(operands, 1, operands.ssize());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  /// The cotangent is zero except for the slice.
  static constexpr void gradient(gradient_step& at);
  using emits = emitted_operations<pad_operation, update_slice_operation>;
};

/// The operation that writes its second operand over a part of the first along a dimension,
/// beginning at an index that is its third operand, of rank 0. Its integers are the dimension and,
/// unless it is `clamp`, the `out_of_range` policy for a part that extends beyond the end.
struct update_slice_operation {
  static constexpr text_view name = "update_slice";
  static constexpr dims_among names{.count = 1};
  static constexpr views_read reads = views_read::any;
  static constexpr bool overwrites_first = true;

  [[nodiscard]] static constexpr attributes how(int dim, out_of_range beyond) noexcept {
    return beyond == out_of_range::clamp ? integer_attributes(dim)
                                         : integer_attributes(dim, static_cast<int>(beyond));
  }
  /// Returns true if a part that does not fit is an error.
  [[nodiscard]] static constexpr bool refuses(const attributes& how) noexcept {
    return how.integers.ssize() > 1;
  }

  /// Each device writes those elements that it holds, so the dimension may be split; each needs all
  /// of the part that is written.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = same_dimensions_rule(linearity::nonlinear, operands[0].rank());
    out.operands.push_back(out.operands[0]);
    out.operands[1][dim] = static_cast<std::uint8_t>(out.factors.ssize());
    out.factors.push_back(factor_kind::need_replication);
    out.operands.push_back({});
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    if (const diagnosis named = over(dim).judge(operands[0].rank()); !named.ok()) return named;
    if (operands[1].rank() != operands[0].rank()) return {};  // reported by the rule
    const index_t size = operands[0].extents[dim], part = operands[1].extents[dim];
    if (size == dyn || part == dyn || part <= size) return {};
    return {.rule = violation::slice_is_out_of_range,
            .operand = 1,
            .dim = dim,
            .have = part,
            .want = size};
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    const diagnosis alike = check_alike({operands[0], operands[1]}, 0, true);
    return alike.ok() ? check_indices(operands, 2, operands.ssize()) : alike;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, integer_attributes(how.integers[0]));
  }
  using emits = emitted_operations<update_slice_operation, dynamic_slice_operation>;
  static constexpr void gradient(gradient_step& at) {
    const gradient_value dy = at.cotangent(), start = at.operand(2);
    const index_t dim = at.how().integers[0];
    if (at.wants(0))
      at.give(0, emit<update_slice_operation>(at.how(), dy, internal::zeros_like(at.operand(1)),
                                              start));
    const index_t size = at.operand(1).tensor().extents[dim];
    if (at.wants(1))
      at.give(1, emit<dynamic_slice_operation>(integer_attributes(dim, size), dy, start));
  }
};

constexpr void dynamic_slice_operation::gradient(gradient_step& at) {
  const gradient_value dy = at.cotangent();
  const extents_desc whole = at.operand(0).tensor().extents;
  const auto dim = static_cast<int>(at.how().integers[0]);
  const index_t behind = whole[dim] - at.how().integers[1];
  const gradient_value zeros = emit<pad_operation>(
      pad_operation::how_along(whole.ssize(), dim, 0, behind), internal::zeros_like(dy));
  at.give(0, emit<update_slice_operation>(integer_attributes(dim), zeros, dy, at.operand(1)));
}

/// The two operations whose attributes are types.
template <int Dim, index_t Size>
struct dynamic_slice_of {
  using operation_class = dynamic_slice_operation;
  static constexpr attributes how = integer_attributes(Dim, Size);
};
template <int Dim, out_of_range Beyond>
struct update_slice_of {
  using operation_class = update_slice_operation;
  static constexpr attributes how = update_slice_operation::how(Dim, Beyond);
};

/// Returns `Size` consecutive elements along a dimension, beginning at `start`: an integer, or a
/// tensor of rank 0 that holds one. The start is clamped so that the slice lies within the
/// dimension; unlike in JAX, a negative one does not count from the end. The dimension must not be
/// split, or is gathered over permitted axes. Pending sums stay pending.
///
///     auto y = dynamic_slice<0, 4>(x, at);   // f32[8, 64@model], i32[] -> f32[4, 64@model]
template <int Dim, index_t Size, NamedOperand X, class Start, internal::Terms Given = across_axes<>>
  requires(Scalar<Start> || NamedOperand<Start>)
[[nodiscard]] constexpr internal::outcome_on<
    detail::numbers_call<dynamic_slice_of<Dim, Size>, internal::permitted_by<Given>, std::int64_t>,
    Given, X, Start>
dynamic_slice(X&& x, Start&& start, const Given& given = {}) {
  return internal::carry_out_on<detail::numbers_call<dynamic_slice_of<Dim, Size>,
                                                     internal::permitted_by<Given>, std::int64_t>>(
      given, static_cast<X&&>(x), static_cast<Start&&>(start));
}

/// Returns the tensor with `part` written over it, beginning at index `start` of a dimension. The
/// start is clamped so that the part lies within the dimension; with `out_of_range::error`, a part
/// that does not fit throws `part_is_beyond_end` when the elements are computed. All other
/// dimensions are those of `x`. The dimension of `x` may be split, since each device writes its own
/// elements; that of the part must not be split, or is gathered over permitted axes.
///
/// If `x` has no other owner, it is updated in place.
///
///     cache = update_slice<1>(cache, keys, step);    // f32[8@data, 512, 64], f32[8@data, 1, 64]
template <int Dim, out_of_range Beyond = out_of_range::clamp, NamedOperand X, NamedOperand Part,
          class Start, internal::Terms Given = across_axes<>>
  requires((Scalar<Start> || NamedOperand<Start>)&&Beyond != out_of_range::fill)
[[nodiscard]] constexpr internal::outcome_on<
    detail::numbers_call<update_slice_of<Dim, Beyond>, internal::permitted_by<Given>, void,
                         std::int64_t>,
    Given, X, Part, Start>
update_slice(X&& x, Part&& part, Start&& start, const Given& given = {}) {
  return internal::carry_out_on<detail::numbers_call<
      update_slice_of<Dim, Beyond>, internal::permitted_by<Given>, void, std::int64_t>>(
      given, static_cast<X&&>(x), static_cast<Part&&>(part), static_cast<Start&&>(start));
}

}  // namespace shardwise
