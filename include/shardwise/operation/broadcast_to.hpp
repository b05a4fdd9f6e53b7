// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// The operation that repeats a tensor along new dimensions and those of size 1. Its integers are
/// the extents of the result; a `dyn` extent keeps that of the operand.
struct broadcast_to_operation : of_reordered_elements {
  static constexpr text_view name = "broadcast_to";

  [[nodiscard]] static constexpr attributes how(const extents_desc& target) noexcept {
    attributes out;
    for (index_t n : target) out.integers.push_back(n);
    return out;
  }
  /// Dimensions are aligned from the last one.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const extents_desc& from = operands[0].extents;
    factor_rule out = same_dimensions_rule(linearity::structural, how.integers.ssize());
    out.operands[0].clear();
    out.sizes = out.given_sizes();
    const int added = how.integers.ssize() - from.ssize();
    for (int d = 0; d < how.integers.ssize(); ++d) {
      const index_t wanted = how.integers[d];
      out.sizes[d] = wanted;
      if (d < added) continue;
      const index_t size = from[d - added];
      const bool is_repeated = size == 1 && wanted != dyn && wanted != 1;
      out.operands[0].push_back(is_repeated ? repeated : static_cast<std::uint8_t>(d));
    }
    return out;
  }
  /// Checks that every extent is kept or repeats one of size 1.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const extents_desc& from = operands[0].extents;
    const int added = how.integers.ssize() - from.ssize();
    if (how.integers.ssize() > max_rank)
      return {.rule = violation::rank_is_too_high, .have = how.integers.ssize(), .want = max_rank};
    if (added < 0)
      return {.rule = violation::operand_rank_differs,
              .operand = 0,
              .have = from.ssize(),
              .want = how.integers.ssize()};
    for (int d = 0; d < how.integers.ssize(); ++d) {
      const index_t wanted = how.integers[d];
      if (d < added && wanted < 0) return {.rule = violation::extent_is_negative, .dim = d};
      if (d < added || wanted == dyn) continue;
      const index_t size = from[d - added];
      if (size != dyn && size != 1 && size != wanted)
        return {.rule = violation::operand_sizes_differ,
                .operand = 0,
                .dim = d - added,
                .have = size,
                .want = wanted};
    }
    return {};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  [[nodiscard]] static constexpr batched_form batched(const attributes& how, const tensor_descs&,
                                                      unsigned, index_t size) noexcept {
    batched_form out{how};
    out.how.integers = {size};
    for (index_t n : how.integers) out.how.integers.push_back(n);
    out.rank = how.integers.ssize();
    return out;
  }
  /// The gradient sums over the repeated dimensions.
  static constexpr void gradient(gradient_step& at) { at.give(0, at.cotangent()); }
};

/// The operation whose attributes are types, broadcasting to `Extents`.
template <class Extents>
struct broadcast_to_of {
  using operation_class = broadcast_to_operation;
  static constexpr attributes how = broadcast_to_operation::how(Extents::value);
};

/// Returns the tensor repeated along new dimensions, which come first, and along those of size 1;
/// PyTorch's `expand`. A `dyn` extent keeps that of the operand. Splits are kept, new dimensions
/// are not split, and pending reductions stay pending: nothing is communicated.
///
/// Elementwise functions broadcast their operands without this operation.
///
///     auto y = broadcast_to<extents<4, 8, 16>>(x);     // f32[8@data, 1] -> f32[4, 8@data, 16]
template <class Extents, NamedOperand X>
[[nodiscard]] constexpr auto broadcast_to(X&& x)
    -> decltype(apply_operation<broadcast_to_of<Extents>>(static_cast<X&&>(x))) {
  return apply_operation<broadcast_to_of<Extents>>(static_cast<X&&>(x));
}

/// The same with the result resharded to the requested layout.
///
///     auto y = broadcast_to<extents<...>>(x, as<P<...>>);
template <class Extents, NamedOperand X, internal::Terms Given>
[[nodiscard]] constexpr auto broadcast_to(X&& x, const Given& wanted)
    -> decltype(apply_operation<broadcast_to_of<Extents>>(wanted, static_cast<X&&>(x))) {
  return apply_operation<broadcast_to_of<Extents>>(wanted, static_cast<X&&>(x));
}

}  // namespace shardwise
