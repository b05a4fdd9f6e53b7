// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"

namespace shardwise {

/// The operation that reads the bits of elements as those of another type, which is its only
/// integer. Elements that are wider become several along a new last dimension; several that are
/// narrower, along the last dimension, become one.
///
///     ([i, j]) -> ([i, j])           // elements of one width
///     ([i, j]) -> ([i, j, k])        // to narrower ones
///     ([i, j]) -> ([i])              // to wider ones
struct bitcast_operation {
  static constexpr text_view name = "bitcast";

  [[nodiscard]] static constexpr attributes how(element type) noexcept {
    return integer_attributes(static_cast<int>(type));
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const index_t had = size_of(operands[0].type), made = size_of(type_of(how));
    factor_rule out = same_dimensions_rule(linearity::nonlinear, rank);
    if (made < had) {
      out.sizes = out.given_sizes();
      out.sizes.push_back(had / made);
      out.factors.push_back(factor_kind::need_replication);
      out.result.push_back(static_cast<std::uint8_t>(rank));
    } else if (made > had) {
      out.factors[rank - 1] = factor_kind::need_replication;
      out.result.pop_back();
    }
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    if (type_of(how) == element::boolean) return {.rule = violation::operand_is_no_number};
    const tensor_desc& x = operands[0];
    const int rank = x.rank();
    const index_t had = size_of(x.type), made = size_of(type_of(how));
    if (made < had && rank + 1 > max_rank)
      return {.rule = violation::rank_is_too_high, .have = rank + 1, .want = max_rank};
    if (made <= had) return {};
    if (rank == 0)
      return {.rule = violation::operand_rank_differs, .operand = 0, .have = 0, .want = 1};
    const index_t last = x.extents[rank - 1];
    if (last == made / had || last == dyn) return {};
    return {.rule = violation::operand_sizes_differ,
            .operand = 0,
            .dim = rank - 1,
            .have = last,
            .want = made / had};
  }
  /// Accepts all elements but `bool`, of which not all bits are valid.
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike(operands);
  }
  [[nodiscard]] static constexpr element result_type(const attributes& how,
                                                     const tensor_descs&) noexcept {
    return type_of(how);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << ' ' << to_text(type_of(how));
    return words;
  }

 private:
  [[nodiscard]] static constexpr element type_of(const attributes& how) noexcept {
    return static_cast<element>(how.integers[0]);
  }
};

/// The operation whose attributes are types.
template <Element T>
struct bitcast_of {
  using operation_class = bitcast_operation;
  static constexpr attributes how = bitcast_operation::how(element_of<T>);
};

/// Returns the bits of the elements, read as elements of type `To`, as
/// `jax.lax.bitcast_convert_type` does. Elements of the same width keep their dimensions and
/// layout. If `To` is narrower, its elements are a new last dimension, which is not split; the
/// first one has the lowest bits. If `To` is wider, the last dimension has as many elements as one
/// of `To` consists of, must not be split, or is gathered over permitted axes, and vanishes. A
/// pending value is an error, and so is `bool`. There is no gradient.
///
///     auto bits = bitcast<std::int32_t>(x);          // f32[8@data, 4] -> i32[8@data, 4]
///     auto bytes = bitcast<std::uint8_t>(x);         // f32[8@data, 4] -> u8[8@data, 4, 4]
///     auto same = bitcast<float>(bytes);             // -> f32[8@data, 4]
template <Element To, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto bitcast(X&& x, const Given& given = {})
    -> decltype(apply_operation<bitcast_of<To>>(given, static_cast<X&&>(x))) {
  return apply_operation<bitcast_of<To>>(given, static_cast<X&&>(x));
}

}  // namespace shardwise
