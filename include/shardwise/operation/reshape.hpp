// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/misplaced_options.hpp"
#include "shardwise/rule/gradient_step.hpp"
#include "shardwise/rule/reshape.hpp"

namespace shardwise {

/// The operation that gives the elements of a tensor other extents without changing their order.
/// Its integers are the extents of the result, one of which may be `dyn`.
struct reshape_operation : of_any_elements {
  static constexpr text_view name = "reshape";
  static constexpr bool keeps_elements = true;
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr attributes how(const extents_desc& target) noexcept {
    attributes out;
    for (index_t n : target) out.integers.push_back(n);
    return out;
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    return reshape_rule(operands[0].extents, target(how));
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    if (how.integers.ssize() > max_rank)
      return {.rule = violation::rank_is_too_high, .have = how.integers.ssize(), .want = max_rank};
    return check_reshape(operands[0].extents, target(how));
  }
  static constexpr bool views_contiguous = true;
  [[nodiscard]] static constexpr strided_elements view(const attributes&, const factor_rule&,
                                                       const strided_elements& from,
                                                       const extents_desc& made) noexcept {
    return {from.offset, made, row_major(made)};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  [[nodiscard]] static constexpr batched_form batched(const attributes& how, const tensor_descs&,
                                                      unsigned, index_t size) noexcept {
    batched_form out{how};
    out.how.integers = {size};
    for (index_t n : how.integers) out.how.integers.push_back(n);
    return out;
  }
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<reshape_operation>(how(at.operand(0).tensor().extents), at.cotangent()));
  }

 private:
  [[nodiscard]] static constexpr extents_desc target(const attributes& how) noexcept {
    extents_desc extents;
    for (index_t n : how.integers) extents.push_back(n);
    return extents;
  }
};

/// A reshape to `Extents` whose attributes are types.
template <class Extents>
struct reshape_of {
  using operation_class = reshape_operation;
  static constexpr attributes how = reshape_operation::how(Extents::value);
};

/// Returns the same elements in the same row-major order, with other extents. One of them may be
/// `dyn`; it is computed from the number of elements. Pending reductions stay pending.
///
/// Nothing is communicated: the axes of a dimension that is divided split its major parts, and
/// merged dimensions are split like the first of them. Axes that the result cannot keep are the
/// error `split_would_move`, which suggests a `reshard` that removes them.
///
///     auto heads = reshape<extents<8, 16, 4, 32>>(x);   // f32[8@data, 16, 128@model]
///                                                       // -> f32[8@data, 16, 4@model, 32]
///     auto rows = reshape<extents<dyn, 128>>(x);        // -> f32[128@data, 128@model]
template <class Extents, NamedOperand X>
[[nodiscard]] constexpr auto reshape(X&& x)
    -> decltype(apply_operation<reshape_of<Extents>>(static_cast<X&&>(x))) {
  return apply_operation<reshape_of<Extents>>(static_cast<X&&>(x));
}

/// Reshapes and reshards the result to the requested layout.
///
///     auto y = reshape<extents<...>>(x, as<P<...>>);
template <class Extents, NamedOperand X, internal::Terms Given>
[[nodiscard]] constexpr auto reshape(X&& x, const Given& wanted)
    -> decltype(apply_operation<reshape_of<Extents>>(wanted, static_cast<X&&>(x))) {
  return apply_operation<reshape_of<Extents>>(wanted, static_cast<X&&>(x));
}

/// Error: the extents are a template argument.
template <Operand X>
detail::options_misplaced<"reshape<extents<4, 32>>(x)", X> reshape(const X&, const extents_desc&) {
  return {};
}
template <Operand X, class... Sizes>
detail::call_misplaced<detail::written_call<"reshape", "extents<4, 32>", "x", Sizes...>, X> reshape(
    const X&, const Sizes&...) {
  return {};
}
template <index_t First, index_t... Sizes, Operand X>
detail::call_misplaced<
    detail::written_call<"reshape", "extents<4, 32>", "x", extents<First, Sizes...>>, X>
reshape(const X&) {
  return {};
}

}  // namespace shardwise
