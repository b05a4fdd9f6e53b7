// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/whole.hpp"
#include "shardwise/operation/over.hpp"

#include <utility>

namespace shardwise {

/// The largest value along a dimension and where it is: its one integer is the dimension. The
/// second result holds indices.
struct max_with_index_operation {
  static constexpr text_view name = "max_with_index";

  [[nodiscard]] static constexpr attributes how(int dim) noexcept {
    attributes out;
    out.integers = {index_t{dim}};
    return out;
  }
  /// The dimension is held whole by each device, since no pending reduction is one of pairs.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = reduction_rule(reduction::max, rank, 1U << dim);
    out.factors[dim] = factor_kind::need_replication;
    out.law = linearity::nonlinear;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr element_verdict check_elements(
      const attributes&, const tensor_descs& operands) noexcept {
    return check_alike(operands);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
};

/// The same as types have it.
template <int Dim>
struct max_with_index_of {
  using operation_class = max_with_index_operation;
  static constexpr attributes how = max_with_index_operation::how(Dim);
};

namespace detail {

/// The call `max_with_index<Dim>`: the operation, and its second result.
template <int Dim>
struct max_with_index_call {
  using first = whole_call<max_with_index_of<Dim>>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using values = decltype(first::template judge<X>());
    if constexpr (!values::ok)
      return values{};
    else
      return allowed<std::pair<typename values::type, indices_of<typename values::type>>>{};
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    auto values = first::apply(static_cast<X&&>(x));
    using made = decltype(values);
    if constexpr (ValueOperand<made>) {
      auto at = made::value_domain::template second<std::int64_t>(values);
      return std::pair(std::move(values), std::move(at));
    } else {
      auto at = made::domain::template second<indices<made>>(values);
      return std::pair(std::move(values), std::move(at));
    }
  }

 private:
  template <class Values>
  using indices =
      paper_tensor<std::int64_t, typename Values::extents_type, typename Values::layout_type>;
  template <class Values>
  struct second_of {
    using type = typename Values::domain::template made_second<indices<Values>>;
  };
  template <ValueOperand Values>
  struct second_of<Values> {
    using type = typename Values::value_domain::template tensor<std::int64_t>;
  };
  template <class Values>
  using indices_of = typename second_of<Values>::type;
};

}  // namespace detail

/// The largest values along a dimension and their indices along it, the first of equal ones; NaN is
/// the largest of all. Where there are no elements it is the lowest value, at -1. Each device needs
/// the whole of the dimension.
///
///     auto [best, at] = max_with_index<1>(scores);   // f32[8@data], i64[8@data]
template <int Dim, NamedOperand X>
[[nodiscard]] constexpr detail::outcome_of<detail::max_with_index_call<Dim>, X> max_with_index(
    X&& x) {
  return detail::carry_out<detail::max_with_index_call<Dim>>(static_cast<X&&>(x));
}

}  // namespace shardwise
