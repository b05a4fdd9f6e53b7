// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/fold.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/over.hpp"

#include <utility>

namespace shardwise {

/// The largest value along a dimension and where it is. Its integers are the dimension and, where
/// only parts of it are searched, their number: the result then has one element for each part. A
/// second operand has the indices of the elements of the first. The second result holds indices.
struct max_with_index_operation {
  static constexpr text_view name = "max_with_index";

  [[nodiscard]] static constexpr attributes how(int dim, index_t parts = 0) noexcept {
    return parts > 0 ? integer_attributes(dim, parts) : integer_attributes(dim);
  }
  /// The dimension, or each part of it, is held whole by each device, since no pending reduction is
  /// one of pairs.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = reduction_rule(reduction::max, rank, 1U << dim);
    out.law = linearity::nonlinear;
    if (how.integers.size() == 1) {
      out.factors[dim] = factor_kind::need_replication;
    } else {
      const auto part = static_cast<std::uint8_t>(out.factors.ssize());
      const auto inner = static_cast<std::uint8_t>(part + 1);
      out.factors[dim] = factor_kind::pass_through;
      out.factors.push_back(factor_kind::pass_through);
      out.factors.push_back(factor_kind::need_replication);
      out.composites.push_back(
          {static_cast<std::uint8_t>(dim), composition::product, {part, inner}});
      out.sizes = out.given_sizes();
      out.sizes[part] = how.integers[1];
      out.result = out.operands[0];
      out.result[dim] = part;
    }
    if (operands.size() > 1) out.operands.push_back(out.operands[0]);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr element_verdict check_elements(
      const attributes&, const tensor_descs& operands) noexcept {
    return check_alike({operands[0]});
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  [[nodiscard]] static constexpr text<47> label(const attributes& how) noexcept {
    if (how.integers.size() == 1) return words_of(name, how);
    text<47> words;
    words << name << ' ' << how.integers[0] << " in " << how.integers[1] << " parts";
    return words;
  }

  using emits = operations<cumsum_operation, reshape_operation, pointwise<functions::logical_and>>;
  /// All of it goes to the element that was found, the first of equal ones.
  static constexpr void gradient(gradient_step& at) {
    if (!at.wants(0)) return;
    auto dim = static_cast<int>(at.how().integers[0]);
    const extents_desc whole = at.operand(0).tensor().extents;
    extents_desc extents;  // with the parts as a dimension of their own
    for (int d = 0; d < whole.ssize(); ++d) {
      if (d == dim && at.how().integers.size() > 1) {
        extents.push_back(at.how().integers[1]);
        extents.push_back(whole[d] / at.how().integers[1]);
      } else {
        extents.push_back(whole[d]);
      }
    }
    if (extents.size() != whole.size()) ++dim;
    const auto shaped = [](const gradient_value& x, const extents_desc& to) {
      return x.tensor().extents == to ? x : emit<reshape_operation>(reshape_operation::how(to), x);
    };
    extents_desc found = extents;
    found[dim] = 1;
    const gradient_value x = shaped(at.operand(0), extents);
    const gradient_value best = elementwise<functions::equal>(x, shaped(at.result(), found));
    const gradient_value so_far =
        emit<cumsum_operation>(cumsum_operation::how(dim), masked(at.number(1, x), best));
    const gradient_value first = elementwise<functions::logical_and>(
        best, elementwise<functions::equal>(so_far, at.number(1, x)));
    at.give(0, shaped(masked(shaped(at.cotangent(), found), first), whole));
  }

  /// Into how many parts a split dimension is cut so that each device searches its own, where it
  /// may exchange what it finds over permitted axes; 0 if it is not split, or not evenly.
  [[nodiscard]] static constexpr index_t parts_of(const mesh_desc& mesh, const tensor_desc& x,
                                                  int dim, unsigned permitted) noexcept {
    if (dim < 0 || dim >= x.rank() || x.layout.pending != 0) return 0;
    for (std::uint8_t a : x.layout.dims[dim])
      if (mesh.size(a) != 1 && (permitted >> a & 1U) == 0) return 0;
    const index_t parts = mesh.parts(x.layout.dims[dim]);
    const index_t size = x.extents[dim];
    const bool is_even = size != dyn && size > 0 && parts > 1 && size % parts == 0;
    return is_even && x.layout.grains[dim].is_contiguous() ? parts : 0;
  }
};

/// The same as types have it.
template <int Dim>
struct max_with_index_of {
  using operation_class = max_with_index_operation;
  static constexpr attributes how = max_with_index_operation::how(Dim);
};
template <int Dim, index_t Parts>
struct max_with_index_in_parts {
  using operation_class = max_with_index_operation;
  static constexpr attributes how = max_with_index_operation::how(Dim, Parts);
};

namespace detail {

/// The call of one operation with two results: the operation, and its second result.
template <class Operation, class Permitted = across_axes<>>
struct max_with_index_step {
  using first = fetching_call<Operation, Permitted>;

  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using values = decltype(first::template judge<X...>());
    if constexpr (!values::ok)
      return values{};
    else
      return allowed<std::pair<typename values::type, indices_of<typename values::type>>>{};
  }
  template <class... X>
  [[nodiscard]] static constexpr auto apply(X&&... x) {
    auto values = first::apply(static_cast<X&&>(x)...);
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

/// The call `max_with_index<Dim>(x, across<...>)`. Where the dimension is split evenly over
/// permitted axes, each device searches its own part first, and only what it finds is exchanged.
template <int Dim, class Permitted>
struct max_with_index_call {
  using whole = max_with_index_step<max_with_index_of<Dim>, Permitted>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (in_parts < X >> 0)
      return judge_parts<X>();
    else
      return whole::template judge<X>();
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    if constexpr (in_parts < X >> 0) {
      auto [best, at] = found<X>::apply(static_cast<X&&>(x));
      return whole::apply(std::move(best), std::move(at));
    } else if constexpr (ValueOperand<X>) {
      using domain = typename std::remove_cvref_t<X>::value_domain;
      using T = typename std::remove_cvref_t<X>::value_type;
      using class_type = max_with_index_operation;
      const index_t parts =
          class_type::parts_of(x.mesh(), x.tensor(), Dim, Permitted::bits(x.mesh()));
      if (parts == 0) return whole::apply(static_cast<X&&>(x));
      auto best = domain::template apply_with<class_type, T>(class_type::how(Dim, parts),
                                                             static_cast<X&&>(x));
      auto at = domain::template second<std::int64_t>(best);
      return whole::apply(std::move(best), std::move(at));
    } else {
      return whole::apply(static_cast<X&&>(x));
    }
  }

 private:
  template <class X>
  static constexpr index_t in_parts = [] {
    if constexpr (Operand<X>)
      return max_with_index_operation::parts_of(mesh_of<X>::value, paper_of<X>::value, Dim,
                                                Permitted::bits(mesh_of<X>::value));
    else
      return index_t{0};
  }();
  template <class X>
  using found = max_with_index_step<max_with_index_in_parts<Dim, in_parts<X>>>;

  template <class X>
  [[nodiscard]] static constexpr auto judge_parts() noexcept {
    using pair = decltype(found<X>::template judge<X>());
    if constexpr (!pair::ok)
      return pair{};
    else
      return whole::template judge<typename pair::type::first_type,
                                   typename pair::type::second_type>();
  }
};

}  // namespace detail

/// The largest values along a dimension and their indices along it, the first of equal ones; NaN is
/// the largest of all. Where there are no elements it is the lowest value, at -1. Each device needs
/// the whole of the dimension.
///
///     auto [best, at] = max_with_index<1>(scores);   // f32[8@data], i64[8@data]
template <int Dim, NamedOperand X>
[[nodiscard]] constexpr detail::outcome_of<detail::max_with_index_call<Dim, across_axes<>>, X>
max_with_index(X&& x) {
  return detail::carry_out<detail::max_with_index_call<Dim, across_axes<>>>(static_cast<X&&>(x));
}
/// The same of a dimension that is split over mesh axes. Where the split is even each device
/// searches its own part, and what all have found is gathered; elsewhere the dimension is.
///
///     auto [best, at] = max_with_index<1>(logits, across<"model">);
template <int Dim, NamedOperand X, fixed_string... Axes>
[[nodiscard]] constexpr detail::outcome_of<detail::max_with_index_call<Dim, across_axes<Axes...>>,
                                           X>
max_with_index(X&& x, across_axes<Axes...>) {
  return detail::carry_out<detail::max_with_index_call<Dim, across_axes<Axes...>>>(
      static_cast<X&&>(x));
}

}  // namespace shardwise
