// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/concatenate.hpp"
#include "shardwise/operation/slice.hpp"

namespace shardwise {

/// The operation that stacks tensors along a new dimension, which is its only integer.
struct stack_operation {
  static constexpr text_view name = "stack";
  static constexpr dims_among names{.count = 1, .of_result = true};
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::structural, rank);
    out.factors.push_back(factor_kind::pass_through);
    out.sizes = out.given_sizes();
    out.sizes[rank] = operands.ssize();
    for (int o = 1; o < operands.ssize(); ++o) out.operands.push_back(out.operands[0]);
    out.result.clear();
    for (int d = 0; d <= rank; ++d)
      out.result.push_back(
          static_cast<std::uint8_t>(d == how.integers[0] ? rank : d - (d > how.integers[0])));
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank() + 1;
    if (rank > max_rank)
      return {.rule = violation::rank_is_too_high, .have = rank, .want = max_rank};
    return over(how.integers[0]).judge(rank);
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike(operands, 0, true);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  using emits = emitted_operations<slice_operation>;
  static constexpr void gradient(gradient_step& at) {
    const auto dim = static_cast<int>(at.how().integers[0]);
    for (int o = 0; o < at.operand_count(); ++o)
      if (at.wants(o))
        at.give(
            o, emit<slice_operation>(slice_operation::how(dim, o, o + 1, 1, true), at.cotangent()));
  }
};

/// The operation along `Dim` whose attributes are types.
template <int Dim>
struct stack_of {
  using operation_class = stack_operation;
  static constexpr attributes how = integer_attributes(Dim);
};

namespace detail {

/// The call that gathers its operands over permitted axes.
template <int Dim>
struct fetching_stack {
  template <class Permitted>
  using with = combining_call<fetching_call<stack_of<Dim>, Permitted>,
                              fetching_call<concatenate_of<Dim>, Permitted>>;
};
template <int Dim, class... X>
using stack_call =
    std::conditional_t<ends_with_terms<X...>(), call_with_terms<fetching_stack<Dim>::template with>,
                       typename fetching_stack<Dim>::template with<across_axes<>>>;

}  // namespace detail

namespace internal {

template <int Dim, class Permitted>
using list_stack = list_call<Dim, stack_of<Dim>, concatenate_of<Dim>, Permitted>;

}  // namespace internal

/// Stacks tensors of the same extents along a new dimension at position `Dim` of the result, which
/// is not split. The tensors must be split alike and pending alike, or are gathered over permitted
/// axes until they are.
///
/// There may be any number of tensors. A single operation takes `max_operands`; more are first
/// stacked in groups, which are concatenated.
///
///     auto y = stack<0>(a, b);               // f32[8@data], f32[8@data] -> f32[2, 8@data]
template <int Dim, NamedOperand First, class... Rest>
  requires(... && (NamedOperand<Rest> || internal::Terms<std::remove_cvref_t<Rest>>))
[[nodiscard]] constexpr internal::outcome_of<detail::stack_call<Dim, Rest...>, First, Rest...>
stack(First&& first, Rest&&... rest) {
  return internal::carry_out<detail::stack_call<Dim, Rest...>>(static_cast<First&&>(first),
                                                               static_cast<Rest&&>(rest)...);
}

/// Stacks the tensors of a list, which has any length: an array, whose length the type of the
/// result shows, or a vector or a span, whose length is a `dyn` extent.
///
///     auto y = stack<0>(std::vector{a, b, c});         // f32[8@data] each -> f32[3, 8@data]
template <int Dim, TensorList List, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    internal::list_stack<Dim, internal::permitted_by<Given>>, Given, const List&>
stack(const List& list, const Given& given = {}) {
  return internal::carry_out_on<internal::list_stack<Dim, internal::permitted_by<Given>>>(given,
                                                                                          list);
}

}  // namespace shardwise
