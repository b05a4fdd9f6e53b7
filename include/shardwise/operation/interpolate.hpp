// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/rule/gradient_step.hpp"

#include <cstdint>
#include <type_traits>

namespace shardwise {

/// How elements between those of a tensor are computed: as the nearest one, of an index that is
/// rounded down from `i * size / new_size` or from the centre of the new element; on straight lines
/// between two; or on cubic curves between four, Keys' with `a = -0.75`. Beyond the edges are
/// copies of the first and the last element.
enum class interpolation : std::uint8_t { nearest, nearest_exact, linear, cubic };

/// Requests that `interpolate` keep the positions of the first and the last elements.
struct align_corners_t {};
inline constexpr align_corners_t align_corners{};

/// The operation that resizes the last dimensions by interpolation. Its integers are the method,
/// whether corners are aligned, whether the map is the transposed one, and the sizes of the last
/// dimensions of the result.
///
/// Each result is a weighted sum of elements. The transposed map adds each element, times the same
/// weights, to the results from which the map would compute it: it is the gradient, and the map is
/// its gradient. All dimensions are resized in one call, one after the other.
struct interpolate_operation : of_any_elements {
  static constexpr text_view name = "interpolate";
  static constexpr views_read reads = views_read::any;

  /// Returns the attributes for these sizes; there may be none yet.
  [[nodiscard]] static constexpr attributes how(interpolation method, bool is_aligned) noexcept {
    return integer_attributes(static_cast<index_t>(method), is_aligned ? 1 : 0, 0);
  }
  [[nodiscard]] static constexpr interpolation method(const attributes& how) noexcept {
    return static_cast<interpolation>(how.integers[0]);
  }
  [[nodiscard]] static constexpr bool is_aligned(const attributes& how) noexcept {
    return how.integers[1] != 0;
  }
  [[nodiscard]] static constexpr bool is_transposed(const attributes& how) noexcept {
    return how.integers[2] != 0;
  }
  /// Returns the number of dimensions that have a size.
  [[nodiscard]] static constexpr int dimensions(const attributes& how) noexcept {
    return how.integers.ssize() - first_size;
  }
  [[nodiscard]] static constexpr index_t size(const attributes& how, int d) noexcept {
    return how.integers[first_size + d];
  }
  /// Returns true if results are elements of the operand.
  [[nodiscard]] static constexpr bool picks(interpolation method) noexcept {
    return method == interpolation::nearest || method == interpolation::nearest_exact;
  }
  /// Returns true if weights are fractions, and so need floating-point elements.
  [[nodiscard]] static constexpr bool has_fractions(const attributes& how) noexcept {
    return !picks(method(how));
  }

  /// A dimension that keeps its size keeps its elements.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const bool is_choice = picks(method(how)) && !is_transposed(how);
    const int rank = operands[0].rank(), count = dimensions(how);
    factor_rule out =
        same_dimensions_rule(is_choice ? linearity::structural : linearity::additive, rank);
    for (int d = 0; d < count; ++d) {
      const int dim = rank - count + d;
      const index_t have = operands[0].extents[dim], want = size(how, d);
      if (have == want && have != dyn) continue;
      out.factors[dim] = factor_kind::need_replication;
      out.sizes = out.given_sizes();
      out.result[dim] = static_cast<std::uint8_t>(out.factors.ssize());
      out.factors.push_back(factor_kind::need_replication);
      out.sizes.push_back(want);
    }
    return out;
  }
  /// Checks that the tensor has the dimensions, and that those with elements come from elements.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank(), count = dimensions(how);
    if (count < 1) return {.rule = violation::dimension_is_out_of_range, .have = 0, .want = rank};
    if (rank < count)
      return {.rule = violation::operand_rank_differs, .operand = 0, .have = rank, .want = count};
    for (int d = 0; d < count; ++d) {
      const int dim = rank - count + d;
      const index_t given = operands[0].extents[dim], made = size(how, d);
      if (made < 0) return {.rule = violation::extent_is_negative, .dim = dim, .have = made};
      const index_t read = is_transposed(how) ? made : given;
      const index_t written = is_transposed(how) ? given : made;
      if (read == 0 && written > 0)
        return {.rule = violation::dimension_is_too_short,
                .operand = 0,
                .dim = dim,
                .have = 0,
                .want = 1};
    }
    return {};
  }
  /// Returns the dimensions that change, in the order in which they are resized: from the last one
  /// if there are more elements afterwards, since rows along other dimensions are faster.
  [[nodiscard]] static constexpr inplace_vector<int, max_rank> order(
      const extents_desc& from, const extents_desc& to) noexcept {
    inplace_vector<int, max_rank> out;
    index_t before = 1, after = 1;
    for (int d = 0; d < from.ssize(); ++d) {
      if (from[d] == to[d]) continue;
      out.push_back(d);
      before *= from[d];
      after *= to[d];
    }
    for (int i = 0, last = out.ssize() - 1; after > before && i < last; ++i, --last) {
      const int first = out[i];
      out[i] = out[last];
      out[last] = first;
    }
    return out;
  }
  /// A multiplication for each weight, and the additions.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    constexpr index_t operations_of[] = {0, 0, 3, 7};
    const index_t each = operations_of[how.integers[0]];
    extents_desc extents = operands[0].extents;
    operation_cost out;
    for (const int d : order(extents, result.extents)) {
      const extents_desc before = extents;
      extents[d] = result.extents[d];
      out.flops += is_transposed(how) && each == 0
                       ? largest_shard_size(mesh, result.layout, before)
                       : each * largest_shard_size(mesh, result.layout,
                                                   is_transposed(how) ? before : extents);
    }
    return out;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    constexpr text_view methods[] = {"nearest", "nearest_exact", "linear", "cubic"};
    bounded_text<47> words;
    words << name << ' ' << methods[how.integers[0]];
    if (is_aligned(how)) words << " aligned";
    if (is_transposed(how)) words << " transposed";
    attributes sizes;
    for (int d = 0; d < dimensions(how); ++d) sizes.integers.push_back(size(how, d));
    return words << text_view(words_of("", sizes));
  }
  /// The dimensions are the last ones, whatever is in front of them.
  [[nodiscard]] static constexpr batched_form batched(const attributes& how, const tensor_descs&,
                                                      unsigned, index_t) noexcept {
    return {how};
  }
  static constexpr void gradient(gradient_step& at) {
    const extents_desc have = at.operand(0).tensor().extents;
    attributes back = at.how();
    back.integers[2] = is_transposed(back) ? 0 : 1;
    const int count = dimensions(back);
    for (int d = 0; d < count; ++d) back.integers[first_size + d] = have[have.ssize() - count + d];
    at.give(0, emit<interpolate_operation>(back, at.cotangent()));
  }

 private:
  static constexpr int first_size = 3;
};

/// The operation whose attributes are types.
template <interpolation Method, bool IsAligned, index_t... Sizes>
struct interpolate_of {
  using operation_class = interpolate_operation;
  static constexpr attributes how = [] {
    attributes out = interpolate_operation::how(Method, IsAligned);
    (out.integers.push_back(Sizes), ...);
    return out;
  }();
};

namespace detail {
/// Weights that are fractions need floating-point elements.
template <class Operation, class Permitted>
using interpolate_call =
    std::conditional_t<interpolate_operation::has_fractions(Operation::how),
                       fractional_call<Operation, fetching_call<Operation, Permitted>>,
                       fetching_call<Operation, Permitted>>;
template <class Operation, class Given, class X>
using interpolate_outcome = outcome_on<interpolate_call<Operation, permitted_by<Given>>, Given, X>;
}  // namespace detail

/// Returns the tensor with its last dimensions resized to `Sizes`, larger or smaller, by
/// interpolation between its elements: PyTorch's `interpolate` and, without antialiasing, JAX's
/// `image.resize`.
///
/// An element is as wide as its part of the dimension, and new elements are computed at their
/// centres: element `i` at `(i + 0.5) * size / new_size - 0.5`. `interpolation::nearest` is
/// PyTorch's instead, whose element `i` is that of index `i * size / new_size`, rounded down;
/// `nearest_exact` is the one with centres, as in JAX. With `align_corners` the first and the last
/// elements keep their positions, `i * (size - 1) / (new_size - 1)`, and the nearest element is
/// that of the index rounded to the nearest integer, halves upwards.
///
/// A dimension that changes its size must not be split, or is gathered over permitted axes; all
/// others may be split, and pending sums stay pending. `nearest` accepts every element type and
/// moves elements as they are; `linear` and `cubic` need floating-point elements. `bfloat16` and
/// `float16` are computed in `float` and rounded once, after all dimensions. Every mesh gives the
/// same bits. A dimension without elements can only get size 0; otherwise the error is
/// `dimension_is_too_short`.
///
///     auto y = interpolate<interpolation::linear, 16, 16>(x);  // f32[8@data, 3, 8, 8]
///                                                              // -> f32[8@data, 3, 16, 16]
///     auto z = interpolate<interpolation::cubic, 4>(x, across<"width">);
template <interpolation Method, index_t... Sizes, NamedOperand X,
          internal::Terms Given = across_axes<>>
  requires(sizeof...(Sizes) > 0 && sizeof...(Sizes) <= max_rank)
[[nodiscard]] constexpr detail::interpolate_outcome<interpolate_of<Method, false, Sizes...>, Given,
                                                    X>
interpolate(X&& x, const Given& given = {}) {
  return internal::carry_out_on<detail::interpolate_call<interpolate_of<Method, false, Sizes...>,
                                                         internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}
/// The same with the first and the last elements at their positions.
///
///     auto y = interpolate<interpolation::linear, 5>(x, align_corners);  // 1 2 3 -> 1 1.5 2 2.5 3
template <interpolation Method, index_t... Sizes, NamedOperand X,
          internal::Terms Given = across_axes<>>
  requires(sizeof...(Sizes) > 0 && sizeof...(Sizes) <= max_rank)
[[nodiscard]] constexpr detail::interpolate_outcome<interpolate_of<Method, true, Sizes...>, Given,
                                                    X>
interpolate(X&& x, align_corners_t, const Given& given = {}) {
  return internal::carry_out_on<detail::interpolate_call<interpolate_of<Method, true, Sizes...>,
                                                         internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

}  // namespace shardwise
