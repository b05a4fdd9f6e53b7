// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/out_of_range.hpp"
#include "shardwise/operation/take.hpp"
#include "shardwise/operation/zero_factors.hpp"

namespace shardwise {

/// How a scattered value is combined with the element at its index.
enum class scatter_mode : std::uint8_t { set, add, max, min, multiply };

namespace detail {

/// The gradient of `Put`, an operation that writes its third operand into the first at indices:
/// `Take` is the operation that looks elements up by the same indices. Elements that were
/// overwritten get no cotangent; equal maxima share it evenly.
template <class Put, class Take>
constexpr void scatter_gradient(gradient_step& at) {
  const gradient_value x = at.operand(0), chosen = at.operand(1), updates = at.operand(2);
  const gradient_value dy = at.cotangent();
  const attributes how = integer_attributes(at.how().integers[0], at.how().integers[2]);
  const auto what = static_cast<scatter_mode>(at.how().integers[1]);
  const auto taken = [&](const gradient_value& from) { return emit<Take>(how, from, chosen); };
  const auto summed = [&](const gradient_value& from) {
    return emit<typename Take::sums>(Take::sums_how(how, x.tensor(), chosen.tensor()), from,
                                     chosen);
  };
  if (what == scatter_mode::set) {
    const gradient_value nothing =
        masked(updates, elementwise<functions::greater>(at.number(0, dy), at.number(1, dy)));
    at.give(0, emit<Put>(at.how(), dy, chosen, nothing));
    at.give(2, emit<Take>(integer_attributes(how.integers[0], how.integers[1] + only_last), dy,
                          chosen));
  } else if (what == scatter_mode::add) {
    at.give(0, dy);
    at.give(2, taken(dy));
  } else if (what == scatter_mode::multiply) {
    const gradient_value one = at.number(1, dy), zero = at.number(0, dy);
    const gradient_value ones = masked(x, elementwise<functions::greater>(zero, one)) + one;
    at.give(0, dy * emit<Put>(at.how(), ones, chosen, updates));
    // The product of the others: the elements are divided by their own factor, which is left out
    // if it is 0.
    const gradient_value is_zero = elementwise<functions::equal>(updates, zero);
    const gradient_value safe = elementwise<functions::where>(is_zero, one, updates);
    const gradient_value products = emit<Put>(at.how(), x, chosen, safe);
    const gradient_value own = zero_factors(updates, is_zero);
    at.give(2, times_zeros(at, taken(dy * products) / safe, taken(summed(own)) - own));
  } else {
    const gradient_value y = at.result(), one = at.number(1, dy);
    const gradient_value kept = elementwise<functions::equal>(at.rounded(x), y);
    const gradient_value put = elementwise<functions::equal>(at.rounded(updates), taken(y));
    const gradient_value share = dy / (masked(one, kept) + summed(masked(one, put)));
    at.give(0, masked(share, kept));
    at.give(2, masked(taken(share), put));
  }
}

/// Returns the name of an operation that writes at indices, its mode and its dimension.
[[nodiscard]] constexpr bounded_text<47> scatter_label(text_view name,
                                                       const attributes& how) noexcept {
  constexpr text_view modes[] = {"_set", "_add", "_max", "_min", "_multiply"};
  bounded_text<47> words;
  words << name << words_of(modes[how.integers[1]], integer_attributes(how.integers[0]));
  return words;
}

/// What operations that write at indices have in common: the integers, which are the dimension, the
/// `scatter_mode` and the `out_of_range`, the elements and the cost.
struct writes_at_indices {
  static constexpr dims_among names{.count = 1};
  [[nodiscard]] static constexpr attributes how(int dim, scatter_mode what,
                                                out_of_range mode) noexcept {
    return integer_attributes(dim, static_cast<int>(what), static_cast<int>(mode));
  }
  /// `bool` elements can only be set.
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes& how,
                                                          const tensor_descs& operands) noexcept {
    const bool is_set = how.integers[1] == static_cast<int>(scatter_mode::set);
    const diagnosis alike = check_alike({operands[0], operands[2]}, 0, is_set);
    if (!alike.ok()) return {.rule = alike.rule, .operand = alike.operand * 2};
    return check_indices(operands, 1, 2);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    const bool is_set = how.integers[1] == static_cast<int>(scatter_mode::set);
    return {.flops =
                is_set ? 0 : largest_shard_size(mesh, operands[2].layout, operands[2].extents)};
  }
};

}  // namespace detail

/// The operation that writes the elements of its third operand at the indices along a dimension of
/// the first, which the second operand holds. The integers are the dimension, the `scatter_mode`
/// and the `out_of_range`.
struct scatter_operation : detail::writes_at_indices {
  static constexpr text_view name = "scatter";

  /// Each device writes those indices that it holds, so the dimension may be split; it needs all of
  /// the indices.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::nonlinear, rank);
    factor_map chosen, given;
    for (int d = 0; d < operands[1].rank(); ++d) {
      chosen.push_back(static_cast<std::uint8_t>(rank + d));
      out.factors.push_back(factor_kind::need_replication);
    }
    for (int d = 0; d < rank; ++d) {
      if (d != dim) given.push_back(static_cast<std::uint8_t>(d));
      if (d == dim)
        for (std::uint8_t f : chosen) given.push_back(f);
    }
    out.operands.push_back(chosen);
    out.operands.push_back(given);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank() - 1 + operands[1].rank();
    if (rank > max_rank)
      return {.rule = violation::rank_is_too_high, .have = rank, .want = max_rank};
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return detail::scatter_label(name, how);
  }
  using emits = emitted_operations<scatter_operation, take_operation, segment_sum_operation,
                                   pointwise<functions::where>>;
  static constexpr void gradient(gradient_step& at) {
    detail::scatter_gradient<scatter_operation, take_operation>(at);
  }
};

/// The operation whose attributes are types.
template <int Dim, scatter_mode What, out_of_range Mode>
struct scatter_of {
  using operation_class = scatter_operation;
  static constexpr attributes how = scatter_operation::how(Dim, What, Mode);
};
/// Returns the tensor with `updates` written at the indices along a dimension: set, added,
/// multiplied, or combined by a maximum or minimum. `updates` has the dimensions of
/// `take<Dim>(x, indices)`. If indices are equal, the last one is set; sums and products are
/// computed in the order of the indices.
///
/// The dimension may be split, since each device writes those indices that it holds; the indices,
/// and the corresponding dimensions of `updates`, must not be split. Nothing may be pending.
///
///     // f32[50@model, 8], i32[4], f32[4, 8] -> f32[50@model, 8]
///     auto y = scatter<0, scatter_mode::add>(x, at, rows);
template <int Dim, scatter_mode What = scatter_mode::set, out_of_range Mode = out_of_range::error,
          class X, class Indices, class Updates, internal::Terms Given = across_axes<>>
  requires ElementwiseOperands<X, Indices, Updates>
[[nodiscard]] constexpr auto scatter(X&& x, Indices&& indices, Updates&& updates,
                                     Given permitted = {})
    -> decltype(apply_operation<scatter_of<Dim, What, Mode>>(permitted, static_cast<X&&>(x),
                                                             static_cast<Indices&&>(indices),
                                                             static_cast<Updates&&>(updates))) {
  return apply_operation<scatter_of<Dim, What, Mode>>(permitted, static_cast<X&&>(x),
                                                      static_cast<Indices&&>(indices),
                                                      static_cast<Updates&&>(updates));
}

}  // namespace shardwise
