// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/take.hpp"

#include <type_traits>

namespace shardwise {

/// The common part of operations that sort along a dimension: its integers are the dimension and
/// whether the order is descending.
template <fixed_string Name>
struct sorting_operation {
  static constexpr text_view name = Name;
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr attributes how(int dim, bool is_descending) noexcept {
    return integer_attributes(dim, index_t{is_descending});
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::nonlinear, operands[0].rank());
    out.factors[how.integers[0]] = factor_kind::need_replication;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << ' ' << how.integers[0];
    if (how.integers[1] != 0) words << " descending";
    return words;
  }
  /// One comparison for each element and each halving of their number.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    index_t rounds = 0;
    for (index_t n = operands[0].extents[static_cast<int>(how.integers[0])]; n > 1; n -= n / 2)
      ++rounds;
    return {.flops = rounds * largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
};

/// The operations that return the sorting permutation of a dimension, and the sorted elements.
struct argsort_operation : sorting_operation<"argsort"> {
  [[nodiscard]] static constexpr element result_type(const attributes&,
                                                     const tensor_descs&) noexcept {
    return element::i64;
  }
};
struct sort_operation : sorting_operation<"sort"> {
  using emits = emitted_operations<argsort_operation, take_along_operation>;
  /// Each cotangent is moved back to the original position of its element.
  static constexpr void gradient(gradient_step& at) {
    at.give(0, put_back(static_cast<int>(at.how().integers[0]), at.how().integers[1] != 0,
                        at.operand(0), at.cotangent()));
  }
  /// Returns the cotangents of the first sorted elements, moved to the positions of these elements
  /// in `x`; all others are 0.
  [[nodiscard]] static constexpr gradient_value put_back(int dim, bool is_descending,
                                                         const gradient_value& x,
                                                         const gradient_value& cotangent) {
    const gradient_value order = emit<argsort_operation>(how(dim, is_descending), x);
    const gradient_value rank = emit<argsort_operation>(how(dim, false), order);
    return emit<take_along_operation>(take_operation::how(dim, out_of_range::fill), cotangent,
                                      rank);
  }
};

/// The operations whose attributes are types.
template <int Dim, bool Descending>
struct sort_of {
  using operation_class = sort_operation;
  static constexpr attributes how = sort_operation::how(Dim, Descending);
};
template <int Dim, bool Descending>
struct argsort_of {
  using operation_class = argsort_operation;
  static constexpr attributes how = argsort_operation::how(Dim, Descending);
};

/// Requests descending order: `sort<1>(x, descending)`.
struct descending_t {};
/// The request itself.
inline constexpr descending_t descending{};

/// Returns the elements along a dimension in ascending order. The sort is stable, 0 and -0 are
/// equal, and NaNs come last. The dimension must not be split.
///
///     auto y = sort<1>(x);                   // f32[8@data, 4]: 3 1 2 1 becomes 1 1 2 3
///     auto z = sort<1>(x, descending);
///
/// If the dimension is split, name its mesh axes with `across`: it is gathered over them.
///
///     auto y = sort<1>(x, across<"model">);
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto sort(X&& x, Given permitted = {})
    -> decltype(apply_operation<sort_of<Dim, false>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<sort_of<Dim, false>>(permitted, static_cast<X&&>(x));
}
/// Returns the elements along a dimension in descending order; NaNs come last in this case too.
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto sort(X&& x, descending_t, Given permitted = {})
    -> decltype(apply_operation<sort_of<Dim, true>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<sort_of<Dim, true>>(permitted, static_cast<X&&>(x));
}

/// Returns the indices along a dimension of the elements that `sort` returns.
///
///     auto order = argsort<1>(x);            // i64[8@data, 4]: of 3 1 2 1 it is 1 3 2 0
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto argsort(X&& x, Given permitted = {})
    -> decltype(apply_operation<argsort_of<Dim, false>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<argsort_of<Dim, false>>(permitted, static_cast<X&&>(x));
}
/// Returns the indices along a dimension of the elements in descending order.
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto argsort(X&& x, descending_t, Given permitted = {})
    -> decltype(apply_operation<argsort_of<Dim, true>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<argsort_of<Dim, true>>(permitted, static_cast<X&&>(x));
}

/// Deleted: the dimension is a template argument.
template <NamedOperand X, class... Rest>
refused_value sort(const X&, const Rest&...) = delete;  // sort<1>(x), sort<1>(x, descending)
template <NamedOperand X, class... Rest>
refused_value argsort(const X&, const Rest&...) = delete;  // argsort<1>(x)

}  // namespace shardwise
