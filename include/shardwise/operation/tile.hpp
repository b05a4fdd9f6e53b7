// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/pad_operation.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

namespace detail {

/// Returns the sum over the copies of a dimension of `size` elements, which are its major or its
/// minor part: the dimension is divided, and the dimensions before and after it are merged if the
/// rank would be too high.
[[nodiscard]] constexpr gradient_value sum_of_copies(const gradient_value& copied, int dim,
                                                     index_t size, index_t count, bool major) {
  const extents_desc have = copied.tensor().extents;
  // Without copies there are no elements: zeros take their place.
  if (count == 0)
    return emit<pad_operation>(pad_operation::how_along(have.ssize(), dim, 0, size), copied);
  const bool merges = have.ssize() == max_rank;
  extents_desc cut, left;
  index_t before = 1, behind = 1;
  for (int d = 0; d < have.ssize(); ++d) {
    left.push_back(d == dim ? size : have[d]);
    if (d < dim) before *= have[d];
    if (d > dim) behind *= have[d];
  }
  if (merges)
    cut = {before, major ? count : size, major ? size : count, behind};
  else
    for (int d = 0; d < have.ssize(); ++d) {
      if (d == dim) cut.push_back(major ? count : size);
      cut.push_back(d == dim ? (major ? size : count) : have[d]);
    }
  const int at = (merges ? 1 : dim) + (major ? 0 : 1);
  const gradient_value sums =
      emit<reduction_operation>(reduction_operation::how(reduction::sum, 1U << at, false),
                                emit<reshape_operation>(reshape_operation::how(cut), copied));
  return merges ? emit<reshape_operation>(reshape_operation::how(left), sums) : sums;
}

}  // namespace detail

/// The operation that repeats a tensor along its dimensions; its integers are the numbers of copies
/// along each dimension of the result.
struct tile_operation : of_any_elements {
  static constexpr text_view name = "tile";
  static constexpr views_read reads = views_read::any;

  /// In a dimension that is repeated, the number of the copy is the major part, so a split of it
  /// would move elements.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const int added = result_rank(how, operands) - rank;
    factor_rule out = same_dimensions_rule(linearity::structural, rank);
    out.result.clear();
    for (int d = 0; d < added + rank; ++d) {
      const index_t count = count_along(how, d, added + rank);
      const auto own = static_cast<std::uint8_t>(d - added);
      if (count == 1) {
        out.result.push_back(d < added ? repeated : own);
        continue;
      }
      const auto copies = static_cast<std::uint8_t>(out.factors.ssize());
      out.factors.push_back(factor_kind::pass_through);
      out.sizes = out.given_sizes();
      out.sizes[copies] = count;
      if (d < added) {
        out.result.push_back(copies);
        continue;
      }
      const auto whole = static_cast<std::uint8_t>(copies + 1);
      out.factors.push_back(factor_kind::pass_through);
      out.composites.push_back({whole, composition::product, {copies, own}});
      out.result.push_back(whole);
    }
    return out;
  }
  /// Checks that no count is negative and that the rule has room for the factors.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = result_rank(how, operands);
    int factors = operands[0].rank();
    for (int d = 0; d < rank; ++d) {
      const index_t count = count_along(how, d, rank);
      if (count < 0) return {.rule = violation::extent_is_negative, .dim = d};
      if (count != 1) factors += d < rank - operands[0].rank() ? 1 : 2;
    }
    if (rank > max_rank || factors > max_factors)
      return {.rule = violation::rank_is_too_high, .have = rank, .want = max_rank};
    return {};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }

  using emits = emitted_operations<pad_operation>;
  static constexpr void gradient(gradient_step& at) {
    const int rank = at.operand(0).tensor().rank();
    gradient_value dy = at.cotangent();
    const int made = dy.tensor().rank();
    for (int d = made - rank; d < made; ++d)
      if (const index_t count = count_along(at.how(), d, made); count != 1)
        dy = detail::sum_of_copies(dy, d, at.operand(0).tensor().extents[d - (made - rank)], count,
                                   true);
    at.give(0, dy);
  }

  /// Returns the number of copies along dimension `d` of a result of this rank; counts are aligned
  /// with the last dimensions.
  [[nodiscard]] static constexpr index_t count_along(const attributes& how, int d,
                                                     int rank) noexcept {
    const int at = d - (rank - how.integers.ssize());
    return at < 0 ? 1 : how.integers[at];
  }

 private:
  [[nodiscard]] static constexpr int result_rank(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int named = how.integers.ssize();
    return named > operands[0].rank() ? named : operands[0].rank();
  }
};

/// The operation that repeats each element in succession; its integers are the dimension and the
/// number of copies.
struct repeat_operation : of_any_elements {
  static constexpr text_view name = "repeat";
  static constexpr dims_among names{.count = 1};
  static constexpr views_read reads = views_read::any;

  /// The number of the copy is the minor part, so splits are kept.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::structural, rank);
    const auto dim = static_cast<std::uint8_t>(how.integers[0]);
    const auto copies = static_cast<std::uint8_t>(rank),
               whole = static_cast<std::uint8_t>(rank + 1);
    out.factors.push_back(factor_kind::pass_through);
    out.factors.push_back(factor_kind::pass_through);
    out.sizes = out.given_sizes();
    out.sizes[copies] = how.integers[1];
    out.composites.push_back({whole, composition::product, {dim, copies}});
    out.result[dim] = whole;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    if (how.integers[1] < 0)
      return {.rule = violation::extent_is_negative, .have = how.integers[1]};
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  using emits = emitted_operations<pad_operation>;
  static constexpr void gradient(gradient_step& at) {
    const auto dim = static_cast<int>(at.how().integers[0]);
    at.give(0, detail::sum_of_copies(at.cotangent(), dim, at.operand(0).tensor().extents[dim],
                                     at.how().integers[1], false));
  }
};

/// The two operations whose attributes are types.
template <index_t... Counts>
struct tile_of {
  using operation_class = tile_operation;
  static constexpr attributes how = integer_attributes(Counts...);
};
template <int Dim, index_t Count>
struct repeat_of {
  using operation_class = repeat_operation;
  static constexpr attributes how = integer_attributes(Dim, Count);
};

/// Returns the tensor repeated along its last dimensions, one count for each; more counts than
/// dimensions add leading dimensions, as in NumPy. Dimensions that are not repeated may be split,
/// and pending reductions stay pending.
///
///     auto y = tile<1, 2>(x);                // f32[8@data, 3] -> f32[8@data, 6]: 1 2 3 1 2 3
template <index_t... Counts, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Counts) > 0 && sizeof...(Counts) <= max_rank)
[[nodiscard]] constexpr auto tile(X&& x, Given permitted = {})
    -> decltype(apply_operation<tile_of<Counts...>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<tile_of<Counts...>>(permitted, static_cast<X&&>(x));
}

/// Returns the tensor with each element of a dimension repeated `Count` times in succession. Splits
/// are kept, without communication, if each device keeps the copies of its own elements; pending
/// reductions stay pending.
///
///     auto y = repeat<0, 2>(x);              // f32[8@data] -> f32[16@data]: 1 1 2 2 3 3 ...
template <int Dim, index_t Count, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto repeat(X&& x, Given permitted = {})
    -> decltype(apply_operation<repeat_of<Dim, Count>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<repeat_of<Dim, Count>>(permitted, static_cast<X&&>(x));
}

}  // namespace shardwise
