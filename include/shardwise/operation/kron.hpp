// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/reshape.hpp"

namespace shardwise {

/// The Kronecker product on abstract tensors. It is computed as a composition of other operations.
struct kron_operation {
  static constexpr text_view name = "kron";
  /// The products of all pairs of elements; each row and each column is then merged with the one
  /// behind it.
  static constexpr auto equation = fixed_string("...ij,...kl->...ikjl");

  /// Rows and columns of the result are products of those of both operands; a part of size 1 is
  /// none.
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = parse_einsum(named(operands)).rule;
    const factor_map pairs = out.result;
    const int batch = pairs.ssize() - 4;
    out.result.clear();
    for (int d = 0; d < batch; ++d) out.result.push_back(pairs[d]);
    for (int d = 0; d < 2; ++d) {
      const auto size = [&](int o) { return operands[o].extents[operands[o].rank() - 2 + d]; };
      const std::uint8_t major = pairs[batch + 2 * d], minor = pairs[batch + 2 * d + 1];
      if (size(0) == 1 || size(1) == 1) {
        out.result.push_back(size(0) == 1 ? minor : major);
        continue;
      }
      const auto whole = static_cast<std::uint8_t>(out.factors.ssize());
      out.factors.push_back(factor_kind::pass_through);
      out.composites.push_back({whole, composition::product, {major, minor}});
      out.result.push_back(whole);
    }
    return out;
  }
  /// Checks that both are matrices, and that the products of pairs have a legal rank.
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    int rank = 0;
    for (int o = 0; o < operands.ssize(); ++o) {
      if (operands[o].rank() < 2)
        return {.rule = violation::operand_rank_differs,
                .operand = o,
                .have = operands[o].rank(),
                .want = 2};
      rank = operands[o].rank() > rank ? operands[o].rank() : rank;
    }
    if (rank + 2 > max_rank)
      return {.rule = violation::rank_is_too_high, .have = rank + 2, .want = max_rank};
    return {};
  }
  /// Returns the reshape that merges the dimensions of the products of pairs.
  [[nodiscard]] static constexpr attributes merging(const extents_desc& pairs) noexcept {
    extents_desc out = pairs;
    for (int d = 0; d < 2; ++d) out.pop_back();
    const int batch = out.ssize() - 2;
    for (int d = batch; d < batch + 2; ++d)
      out[d] = size_product(pairs[batch + 2 * (d - batch)], pairs[batch + 2 * (d - batch) + 1]);
    return reshape_operation::how(out);
  }

 private:
  [[nodiscard]] static constexpr bounded_text<47> named(const tensor_descs& operands) noexcept {
    return named_dimensions(equation, {operands[0].extents, operands[1].extents});
  }
};

/// The operation as a type.
struct kron_of : without_attributes<kron_operation> {};

namespace detail {
struct kron_steps {
  template <class A, class B>
  [[nodiscard]] static constexpr auto apply(const A& a, const B& b) {
    return apply_by_extents<reshape_operation, &kron_operation::merging>(
        einsum<kron_operation::equation>(a, b));
  }
};
template <class Permitted>
using kron_call = gathered_call<kron_of, Permitted, kron_steps>;
}  // namespace detail

/// Returns the Kronecker product of matrices, the last two dimensions: each element of `a` times
/// the whole of `b`. Of matrices of `m` by `n` and `p` by `q` it has `m p` rows and `n q` columns.
/// The dimensions before are a batch, and broadcast.
///
/// The result is split like `a`; `b` may be split only along a dimension along which `a` has size
/// 1, and is gathered over permitted axes otherwise. Pending sums stay pending. At most one extent
/// of the result may be `dyn`.
///
///     auto y = kron(a, b);                 // f32[8@data, 4], f32[2, 3] -> f32[16@data, 12]
template <NamedOperand A, NamedOperand B, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::kron_call<internal::permitted_by<Given>>,
                                             Given, const A&, const B&>
kron(const A& a, const B& b, const Given& given = {}) {
  return internal::carry_out_on<detail::kron_call<internal::permitted_by<Given>>>(given, a, b);
}

}  // namespace shardwise
