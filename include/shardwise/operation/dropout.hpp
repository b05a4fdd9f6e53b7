// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/number.hpp"

#include <bit>
#include <cstdint>

namespace shardwise {

/// The operation that sets random elements to 0 and scales the others. Its second operand, of rank
/// 0, is the key of the random numbers; its third, also of rank 0, is the rate, the fraction that
/// is set to 0.
struct dropout_operation {
  static constexpr text_view name = "dropout";

  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::nonlinear, operands[0].rank());
    out.operands.push_back({});
    out.operands.push_back({});
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    const diagnosis numbers = check_alike({operands[0]});
    if (!numbers.ok()) return numbers;
    if (operands[2].type != computed_in(operands[0].type))
      return {.rule = violation::operand_elements_differ, .operand = 2};
    return check_indices(operands, 1, 2);
  }
  /// The cost of a random number, and a product.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = 10 * largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  using emits = emitted_operations<dropout_operation>;
  /// The same elements of the cotangent are dropped.
  static constexpr void gradient(gradient_step& at) {
    if (at.wants(0))
      at.give(0, emit<dropout_operation>({}, at.cotangent(), at.operand(1), at.operand(2)));
  }
};

/// The operation whose attributes are types.
struct dropout_of : without_attributes<dropout_operation> {};

namespace internal {

/// A random key whose bits are a tensor of rank 0, as in a compiled step.
template <class Key>
concept KeyTensor = requires(const Key& seed) {
  { seed.value } -> NamedOperand;
};
/// A key of random numbers: a `random_key`, the same in a compiled step, or an integer tensor of
/// rank 0.
template <class Key>
concept RandomKey = NamedOperand<Key> || KeyTensor<Key> || requires(const Key& seed) {
  std::uint64_t{seed.value};
};

}  // namespace internal

namespace detail {

template <class Key>
concept NoRandomKey = !RandomKey<Key>;
/// Returns a key of random numbers as an operand: its bits as an integer.
template <RandomKey Key>
[[nodiscard]] constexpr decltype(auto) key_operand(const Key& seed) noexcept {
  if constexpr (NamedOperand<Key>)
    return (seed);
  else if constexpr (KeyTensor<Key>)
    return (seed.value);
  else
    return std::bit_cast<std::int64_t>(seed.value);
}
template <class Key>
using key_operand_type = decltype(key_operand(std::declval<const Key&>()));

template <class Permitted>
using dropout_call =
    fractional_call<dropout_of, numbers_call<dropout_of, Permitted, std::int64_t, computed_number>>;

}  // namespace detail

/// Returns the tensor with a fraction of about `rate` of its elements, chosen at random, set to 0,
/// and the others divided by `1 - rate`. The choice depends only on the key and the global indices
/// of the elements: all layouts on all meshes give the same bits. A rate that is a number is from 0
/// to 1; one that is a tensor is clamped to that. Gradients treat the rate as a constant.
///
/// Nothing is communicated; `x` must not be pending, or the last argument requests the layout of
/// the result. The key may also be a 64-bit integer tensor of rank 0, and the rate a tensor of rank
/// 0 whose element type is the one used for arithmetic on `x`.
///
///     auto y = dropout(x, random_key{1}.fold_in(step), 0.1);
template <NamedOperand X, internal::RandomKey Key, class Rate,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::dropout_call<internal::permitted_by<Given>>,
                                             Given, X, detail::key_operand_type<Key>, const Rate&>
dropout(X&& x, const Key& seed, const Rate& rate, const Given& given = {}) {
  detail::require_probability(rate);
  return internal::carry_out_on<detail::dropout_call<internal::permitted_by<Given>>, Given, X,
                                detail::key_operand_type<Key>, const Rate&>(
      given, static_cast<X&&>(x), detail::key_operand(seed), rate);
}

/// Deleted: random numbers have a key, a `random_key` or a tensor of one, and it precedes the rate.
template <NamedOperand X, detail::NoRandomKey Key, class... Rest>
refused_value dropout(const X&, Key, const Rest&...) = delete;  // dropout(x, random_key{1}, 0.1)

}  // namespace shardwise
