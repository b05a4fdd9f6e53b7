// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/segment_sum.hpp"

namespace shardwise {

/// The repetition of each element along a dimension as often as the second operand says, on
/// abstract tensors. Its integers are the dimension and the number of elements of the result. It is
/// computed as a composition of other operations.
struct repeat_each_operation {
  static constexpr text_view name = "repeat_each";
  static constexpr dims_among names{.count = 1};

  /// Elements are looked up by indices that are computed from all of the counts.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out =
        take_operation::rule(how, {operands[0], tensor_desc{element::i64, {how.integers[1]}, {}}});
    out.operands[1] = {static_cast<std::uint8_t>(out.factors.ssize())};
    out.factors.push_back(factor_kind::need_replication);
    out.sizes = out.given_sizes();
    out.sizes[rank] = how.integers[1];
    return out;
  }
  /// Checks that each element has a count.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    if (how.integers[1] < 0)
      return {.rule = violation::extent_is_negative, .have = how.integers[1]};
    const diagnosis named = over(how.integers[0]).judge(operands[0].rank());
    if (!named.ok() || operands[1].rank() != 1) return named;
    const index_t size = operands[0].extents[static_cast<int>(how.integers[0])];
    const index_t counted = operands[1].extents[0];
    if (size == counted || size == dyn || counted == dyn) return {};
    return {.rule = violation::operand_sizes_differ,
            .operand = 1,
            .dim = 0,
            .have = counted,
            .want = size};
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_indices(operands, 1, 2);
  }
};

/// The operation whose attributes are types.
template <int Dim, index_t Total>
struct repeat_each_of {
  using operation_class = repeat_each_operation;
  static constexpr attributes how = integer_attributes(Dim, Total);
};

namespace detail {

template <int Dim, index_t Total>
struct repeat_each_steps {
  /// The index of an element of the result is the number of elements whose copies end before it.
  template <class X, class Counts>
  [[nodiscard]] static constexpr auto apply(const X& x, const Counts& counts) {
    const auto ends = cumsum<0>(cast<std::int64_t>(counts));
    return take<Dim, out_of_range::clamp>(x, cumsum<0>(bincount<Total, out_of_range::fill>(ends)));
  }
};
template <int Dim, index_t Total, class Permitted>
using repeat_each_call =
    gathered_call<repeat_each_of<Dim, Total>, Permitted, repeat_each_steps<Dim, Total>>;

}  // namespace detail

/// Returns each element along a dimension as often as `counts` says, `Total` elements altogether:
/// `repeat` in JAX with `total_repeat_length`, `repeat_interleave` in PyTorch. `counts` are
/// integers that are not negative, one for each element. If their sum is less than `Total`, the
/// last element fills the rest; if it is more, what is beyond is left out.
///
/// `counts` must not be split, or are gathered over permitted axes. As for `take`, the result is a
/// pending sum if the dimension is split, and a pending sum of `x` stays pending.
///
///     auto y = repeat_each<0, 5>(x, counts);   // f32[3, 8@data], i32[3]: 1 0 4 of a b c is a c c
///     c c
template <int Dim, index_t Total, NamedOperand X, NamedOperand Counts,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::repeat_each_call<Dim, Total, internal::permitted_by<Given>>, Given, const X&,
    const Counts&>
repeat_each(const X& x, const Counts& counts, const Given& given = {}) {
  return internal::carry_out_on<
      detail::repeat_each_call<Dim, Total, internal::permitted_by<Given>>>(given, x, counts);
}

}  // namespace shardwise
