// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/as.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/pooled.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

struct pool_matches_operation;
struct pool_spread_operation;

/// The operation that reduces the elements of windows. The kind of its attributes is that of the
/// reduction: a maximum, or a sum, which is divided by the last integer.
struct pool_operation {
  static constexpr text_view name = "pool";

  [[nodiscard]] static constexpr attributes how(const attributes& windows, reduction kind,
                                                bool is_mean = false) noexcept {
    attributes out = windows;
    out.kind = kind;
    out.integers[15] = 1;
    constexpr index_t largest = index_t{1} << 30;
    for (int d = 0; is_mean && d < internal::pooled::dimensions(out) && d < 3; ++d) {
      const index_t size = internal::pooled::at(out, d).extent;
      // Larger sizes are reported by `check`.
      if (size > 0 && size <= largest && out.integers[15] <= largest) out.integers[15] *= size;
    }
    return out;
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    internal::pooled::factors out = internal::pooled::factors_of(
        how, operands[0].rank(), factor_kind::blocked, factor_kind::pass_through);
    const int leading = operands[0].rank() - internal::pooled::dimensions(how);
    out.rule.operands = {out.source};
    out.rule.result = out.windows;
    out.rule.law = law_of(how.kind);
    out.rule.reduce = how.kind;
    for (int d = 0; d < internal::pooled::dimensions(how); ++d)
      out.rule.windows.push_back(
          {out.source[leading + d], out.windows[leading + d], internal::pooled::forward(how, d)});
    return out.rule;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return internal::pooled::check(how, operands);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs&,
                                                     const tensor_desc& result) noexcept {
    return internal::pooled::cost(mesh, how, result);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return text_view(how.kind == reduction::max ? "max_pool"
                     : how.integers[15] == 1    ? "sum_pool"
                                                : "average_pool");
  }
  using emits = emitted_operations<pool_operation, pool_matches_operation, pool_spread_operation>;
  /// Equal maxima of a window share the cotangent evenly.
  static constexpr void gradient(gradient_step& at);
};

/// The operation that counts the elements of each window that equal the corresponding element of a
/// second operand, or adds those of a third operand at their positions. NaN equals NaN.
struct pool_matches_operation {
  static constexpr text_view name = "pool_matches";

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    internal::pooled::factors out = internal::pooled::factors_of(
        how, operands[0].rank(), factor_kind::blocked, factor_kind::pass_through);
    const int leading = operands[0].rank() - internal::pooled::dimensions(how);
    out.rule.operands = {out.source, out.windows};
    if (operands.size() > 2) out.rule.operands.push_back(out.source);
    out.rule.result = out.windows;
    for (int d = 0; d < internal::pooled::dimensions(how); ++d)
      out.rule.windows.push_back(
          {out.source[leading + d], out.windows[leading + d], internal::pooled::forward(how, d)});
    return out.rule;
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs&,
                                                     const tensor_desc& result) noexcept {
    return internal::pooled::cost(mesh, how, result);
  }
  using emits = emitted_operations<pool_spread_operation>;
  static constexpr void gradient(gradient_step& at);
};

/// The operation that gives each element a sum over the windows in which it equals the element of
/// the second operand; the third operand has the terms.
struct pool_spread_operation {
  static constexpr text_view name = "pool_spread";

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    internal::pooled::factors out = internal::pooled::factors_of(
        how, operands[0].rank(), factor_kind::pass_through, factor_kind::blocked);
    const int leading = operands[0].rank() - internal::pooled::dimensions(how);
    out.rule.operands = {out.source, out.windows, out.windows};
    out.rule.result = out.source;
    for (int d = 0; d < internal::pooled::dimensions(how); ++d)
      out.rule.windows.push_back(
          {out.windows[leading + d], out.source[leading + d],
           internal::pooled::backward(how, d, operands[0].extents[leading + d],
                                      operands[1].extents[leading + d])});
    return out.rule;
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return internal::pooled::cost(mesh, how, operands[1]);
  }
  using emits = emitted_operations<pool_matches_operation>;
  static constexpr void gradient(gradient_step& at) {
    if (at.wants(2))
      at.give(2,
              emit<pool_matches_operation>(at.how(), at.operand(0), at.operand(1), at.cotangent()));
  }
};

constexpr void pool_matches_operation::gradient(gradient_step& at) {
  if (at.operand_count() > 2 && at.wants(2))
    at.give(2, emit<pool_spread_operation>(at.how(), at.operand(0), at.operand(1), at.cotangent()));
}

constexpr void pool_operation::gradient(gradient_step& at) {
  const attributes& how = at.how();
  if (how.kind == reduction::max) {
    const gradient_value x = at.operand(0), y = at.result();
    const gradient_value share = at.cotangent() / emit<pool_matches_operation>(how, x, y);
    return at.give(0, emit<pool_spread_operation>(how, x, y, share));
  }
  const extents_desc have = at.operand(0).tensor().extents;
  const extents_desc made = at.cotangent().tensor().extents;
  inplace_vector<window_numbers, window_numbers::most_dimensions> back;
  const int leading = have.ssize() - internal::pooled::dimensions(how);
  for (int d = 0; d < internal::pooled::dimensions(how); ++d) {
    const dimension_window reads =
        internal::pooled::backward(how, d, have[leading + d], made[leading + d]);
    back.push_back({reads.stride, reads.low, reads.high, reads.span, reads.spacing});
  }
  at.give(0, emit<pool_operation>(internal::window_attributes::from(back, how.integers[15]),
                                  at.cotangent()));
}

/// The operation whose attributes are types.
template <reduction Kind, class... Options>
struct pool_of {
  using operation_class = pool_operation;
  static constexpr attributes how = [] {
    const auto all = detail::window_options::of<Options...>();
    return pool_operation::how(
        internal::window_attributes::from(all.strides, all.paddings, all.windows, 1), Kind,
        Kind == reduction::sum);
  }();
};

namespace detail {
template <class Option>
inline constexpr bool is_pool_option = is_window_option<Option>;
template <index_t... N>
inline constexpr bool is_pool_option<windows<N...>> = sizeof...(N) <= 3;
template <index_t... N>
inline constexpr bool is_pool_option<dilations<N...>> = false;
template <index_t N>
inline constexpr bool is_pool_option<feature_groups<N>> = false;

template <class Option>
concept PoolOption = is_pool_option<Option>;

template <class Permitted, class... Options>
using average_pool_call =
    fractional_call<pool_of<reduction::sum, Options...>,
                    fetching_call<pool_of<reduction::sum, Options...>, Permitted>>;
}  // namespace detail

/// Returns the maximum of each window. Windows span the last dimensions of the tensor, as many as
/// `windows` has sizes; by default they do not overlap, and `strides` sets the distance between
/// them. The positions that `paddings` adds are smaller than every element. NaN is the largest
/// value; equal maxima share a gradient evenly. Pending maxima stay pending.
///
/// All other dimensions may be split. A split spatial dimension needs elements of neighbouring
/// devices, unless windows end where parts do; they are exchanged over permitted axes.
///
///     auto y = max_pool<windows<2, 2>>(x);       // f32[8@data, 16, 28, 28] -> f32[8, 16, 14, 14]
///     auto z = max_pool<windows<3, 3>, strides<2, 2>, paddings<1, 1>>(x, across<"height">);
template <detail::PoolOption... Options, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto max_pool(X&& x, Given permitted = {})
    -> decltype(apply_operation<pool_of<reduction::max, Options...>>(permitted,
                                                                     static_cast<X&&>(x))) {
  return apply_operation<pool_of<reduction::max, Options...>>(permitted, static_cast<X&&>(x));
}

/// Returns the mean of each window, in which padding counts as zeros; otherwise like `max_pool`.
/// Pending sums stay pending.
///
///     auto y = average_pool<windows<7, 7>>(x);       // f32[8@data, 512, 7, 7] -> [8, 512, 1, 1]
template <detail::PoolOption... Options, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::average_pool_call<internal::permitted_by<Given>, Options...>, Given, X>
average_pool(X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      detail::average_pool_call<internal::permitted_by<Given>, Options...>>(given,
                                                                            static_cast<X&&>(x));
}

}  // namespace shardwise
