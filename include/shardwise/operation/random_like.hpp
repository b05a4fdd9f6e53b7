// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/dropout.hpp"
#include "shardwise/operation/full_like.hpp"

namespace shardwise {

namespace detail {

/// The rule of operations that return a random number for each element of the first operand, whose
/// elements are not read. The second operand, of rank 0, is the key.
///
///     ([i, j], []) -> ([i, j])
template <int Flops>
struct random_like_rule {
  static constexpr views_read reads = views_read::any;
  static constexpr bool overwrites_first = true;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    return full_like_operation::rule(how, operands);
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_indices(operands, 1, 2);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = Flops * largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  /// Random numbers are constants.
  static constexpr void gradient(gradient_step&) {}
};

}  // namespace detail

/// The operation of `uniform_like`.
struct uniform_like_operation : detail::random_like_rule<10> {
  static constexpr text_view name = "uniform_like";
};
/// The operation of `normal_like`.
struct normal_like_operation : detail::random_like_rule<40> {
  static constexpr text_view name = "normal_like";
};

namespace detail {

template <class Operation>
struct random_like_of : without_attributes<Operation> {};
template <class Operation, class Permitted>
using random_like_call =
    fractional_call<random_like_of<Operation>,
                    numbers_call<random_like_of<Operation>, Permitted, std::int64_t>>;

}  // namespace detail

/// Returns random numbers, uniform in [0, 1), with the element type, the extents and the layout of
/// `x`, whose elements are not read. They are those of `uniform<X>(pool, key)`: the bits of an
/// element depend only on the key and its global index. In a compiled step the key is an argument,
/// so that each call gives other numbers; the key may also be a 64-bit integer tensor of rank 0.
///
///     auto train = step([&](const auto& x, const auto& key) {
///       return x + 0.1F * normal_like(x, key.fold_in(0));
///     });
///     auto coins = less(uniform_like(x, key), 0.5F);       // bernoulli
template <NamedOperand X, internal::RandomKey Key, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::random_like_call<uniform_like_operation, internal::permitted_by<Given>>, Given, X,
    detail::key_operand_type<Key>>
uniform_like(X&& x, const Key& seed, const Given& given = {}) {
  return internal::carry_out_on<
      detail::random_like_call<uniform_like_operation, internal::permitted_by<Given>>, Given, X,
      detail::key_operand_type<Key>>(given, static_cast<X&&>(x), detail::key_operand(seed));
}
/// Returns random numbers of the standard normal distribution; otherwise like `uniform_like`.
///
///     auto z = mean + exp(0.5F * log_variance) * normal_like(mean, key);
template <NamedOperand X, internal::RandomKey Key, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::random_like_call<normal_like_operation, internal::permitted_by<Given>>, Given, X,
    detail::key_operand_type<Key>>
normal_like(X&& x, const Key& seed, const Given& given = {}) {
  return internal::carry_out_on<
      detail::random_like_call<normal_like_operation, internal::permitted_by<Given>>, Given, X,
      detail::key_operand_type<Key>>(given, static_cast<X&&>(x), detail::key_operand(seed));
}

}  // namespace shardwise
