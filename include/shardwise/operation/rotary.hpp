// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/number.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/slice.hpp"

namespace shardwise {

/// The pairs of elements that a rotary embedding rotates: the elements of the first half of a row
/// with those of the second half, or neighbours.
enum class rotary_pairs : std::uint8_t { halves, neighbours };

/// The operation that rotates pairs of elements along the last dimension. Its second and third
/// operands are the cosines and sines for each index of the dimension before it and each pair. Its
/// integer is the `rotary_pairs`.
struct rotary_operation {
  static constexpr text_view name = "rotary";

  /// The last dimension is a product of the pairs and the two elements of a pair, which are needed
  /// together.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::first_operand, rank);
    const auto whole = static_cast<std::uint8_t>(rank - 1);
    const auto two = static_cast<std::uint8_t>(rank), pair = static_cast<std::uint8_t>(rank + 1);
    out.factors.push_back(factor_kind::need_replication);
    out.factors.push_back(factor_kind::pass_through);
    out.sizes = out.given_sizes();
    out.sizes[two] = 2;
    if (how.integers[0] == static_cast<int>(rotary_pairs::halves))
      out.composites.push_back({whole, composition::product, {two, pair}});
    else
      out.composites.push_back({whole, composition::product, {pair, two}});
    const factor_map angles{static_cast<std::uint8_t>(rank - 2), pair};
    out.operands.push_back(angles);
    out.operands.push_back(angles);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    if (operands[0].rank() >= 2) return {};
    return {.rule = violation::operand_rank_differs,
            .operand = 0,
            .have = operands[0].rank(),
            .want = 2};
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = 3 * largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  using emits = emitted_operations<rotary_operation, slice_operation>;
  /// The gradient rotates back by the same angles.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value dy = at.cotangent();
    if (at.wants(0))
      at.give(0, emit<rotary_operation>(at.how(), dy, at.operand(1), -at.operand(2)));
    if (!at.wants(1) && !at.wants(2)) return;
    const gradient_value a = of_pairs(at, at.operand(0), 0), b = of_pairs(at, at.operand(0), 1);
    const gradient_value da = of_pairs(at, dy, 0), db = of_pairs(at, dy, 1);
    at.give(1, a * da + b * db);
    at.give(2, a * db - b * da);
  }

 private:
  /// Returns the first or the second elements of all pairs, as a tensor `[others, positions,
  /// pairs]` of any rank.
  [[nodiscard]] static constexpr gradient_value of_pairs(gradient_step& at, const gradient_value& x,
                                                         index_t which) {
    const extents_desc have = x.tensor().extents;
    const int rank = have.ssize();
    const bool halves = at.how().integers[0] == static_cast<int>(rotary_pairs::halves);
    const index_t pairs = have[rank - 1] / 2;
    index_t others = 1;
    for (int d = 0; d < rank - 2; ++d) others *= have[d];
    const extents_desc cut{others, have[rank - 2], halves ? 2 : pairs, halves ? pairs : 2};
    return emit<slice_operation>(slice_operation::how(halves ? 2 : 3, which, which + 1, 1, true),
                                 emit<reshape_operation>(reshape_operation::how(cut), x));
  }
};

/// The operation whose attributes are types.
template <rotary_pairs Pairs>
struct rotary_of {
  using operation_class = rotary_operation;
  static constexpr attributes how = integer_attributes(static_cast<int>(Pairs));
};

namespace detail {
template <rotary_pairs Pairs, class Permitted>
using rotary_call = fractional_call<rotary_of<Pairs>, fetching_call<rotary_of<Pairs>, Permitted>>;
}  // namespace detail

/// Applies a rotary embedding: pairs `(a, b)` of elements along the last dimension become `(a cos -
/// b sin, b cos + a sin)`, with the angle of the pair and of its position, which is the index along
/// the dimension before. The tables have an angle for each position and pair.
///
/// Positions and all dimensions before them may be split; the two elements of a pair are needed
/// together. A pending sum of `x` stays pending.
///
///     auto q = rotary(x, cosines, sines);    // f32[8@data, 16, 512, 64], two of f32[512, 32]
template <rotary_pairs Pairs = rotary_pairs::halves, NamedOperand X, NamedOperand Cosines,
          NamedOperand Sines, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::rotary_call<Pairs, internal::permitted_by<Given>>, Given, X, Cosines, Sines>
rotary(X&& x, Cosines&& cosines, Sines&& sines, const Given& given = {}) {
  return internal::carry_out_on<detail::rotary_call<Pairs, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x), static_cast<Cosines&&>(cosines), static_cast<Sines&&>(sines));
}

}  // namespace shardwise
