// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/misplaced_options.hpp"
#include "shardwise/operation/out_of_range.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

struct take_operation;
struct take_along_operation;

/// The operation that sums the elements of its first operand by the indices along a dimension that
/// the second operand holds. Its integers are the dimension, the number of sums and the
/// `out_of_range`, possibly with `only_last`.
struct segment_sum_operation {
  static constexpr text_view name = "segment_sum";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    const int rank = operands[0].rank();
    const int summed = operands[1].rank();
    factor_rule out = same_dimensions_rule(linearity::first_operand, rank);
    factor_map chosen;
    for (int d = dim; d < dim + summed; ++d) {
      out.factors[d] = factor_kind::reduction;
      chosen.push_back(static_cast<std::uint8_t>(d));
    }
    out.operands.push_back(chosen);
    out.result.clear();
    for (int d = 0; d < dim; ++d) out.result.push_back(static_cast<std::uint8_t>(d));
    out.result.push_back(static_cast<std::uint8_t>(rank));
    for (int d = dim + summed; d < rank; ++d) out.result.push_back(static_cast<std::uint8_t>(d));
    out.factors.push_back(factor_kind::pass_through);
    out.sizes = out.given_sizes();
    out.sizes[rank] = how.integers[1];
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const index_t dim = how.integers[0];
    const int rank = operands[0].rank(), summed = operands[1].rank();
    if (how.integers[1] < 0)
      return {.rule = violation::extent_is_negative, .have = how.integers[1]};
    if (dim >= 0 && dim <= rank - summed && rank - summed < max_rank) return {};
    return {.rule = violation::dimension_is_out_of_range,
            .have = dim < 0 || dim >= rank ? dim : dim + summed - 1,
            .want = rank};
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    const diagnosis numbers = check_alike({operands[0]});
    return numbers.ok() ? check_indices(operands, 1, 2) : numbers;
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, integer_attributes(how.integers[0], how.integers[1]));
  }
  using emits = emitted_operations<take_operation>;
  static constexpr void gradient(gradient_step& at);
};

/// The operation that adds each element of its first operand to the sum along a dimension whose
/// number the second operand holds at the same position. The integers are those of `segment_sum`,
/// and then, if the result is larger along other dimensions, all its extents: what is beyond the
/// operands is 0.
struct sum_along_operation {
  static constexpr text_view name = "sum_along";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = same_dimensions_rule(linearity::first_operand, operands[0].rank());
    out.factors[dim] = factor_kind::reduction;
    out.operands.push_back(out.operands[0]);
    out.result[dim] = static_cast<std::uint8_t>(out.factors.ssize());
    out.factors.push_back(factor_kind::pass_through);
    out.sizes = out.given_sizes();
    out.sizes[out.result[dim]] = how.integers[1];
    for (int d = 0; d + 3 < how.integers.ssize(); ++d) {
      if (d == dim || how.integers[3 + d] == operands[0].extents[d]) continue;
      out.factors[d] = factor_kind::need_replication;
      out.result[d] = static_cast<std::uint8_t>(out.factors.ssize());
      out.factors.push_back(factor_kind::need_replication);
      out.sizes = out.given_sizes();
      out.sizes[out.result[d]] = how.integers[3 + d];
    }
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    if (how.integers[1] < 0)
      return {.rule = violation::extent_is_negative, .have = how.integers[1]};
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes& how,
                                                          const tensor_descs& operands) noexcept {
    return segment_sum_operation::check_elements(how, operands);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    return segment_sum_operation::cost(mesh, how, operands, result);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, integer_attributes(how.integers[0], how.integers[1]));
  }
  using emits = emitted_operations<take_along_operation>;
  static constexpr void gradient(gradient_step& at);
};

namespace detail {

/// The kind of a dimension in which elements are looked up by index. If it is split, each device
/// looks up the elements that it holds, which leaves a sum pending; `bool` elements have no pending
/// sum.
[[nodiscard]] constexpr factor_kind looked_up(const tensor_desc& in) noexcept {
  return in.type == element::boolean ? factor_kind::need_replication : factor_kind::reduction;
}

/// Returns true if the indices, which are the second operand, are fewer than the elements of the
/// first along dimension `d`, and not one.
[[nodiscard]] constexpr bool takes_part(const tensor_descs& operands, int d) noexcept {
  if (operands[1].rank() != operands[0].rank()) return false;
  const index_t size = operands[0].extents[d], taken = operands[1].extents[d];
  return size != dyn && taken != dyn && taken < size && taken != 1;
}

}  // namespace detail

/// The operation that takes the elements at the indices along a dimension that the second operand
/// holds; in the result, the dimensions of the indices replace the dimension. The integers are the
/// dimension and the `out_of_range`, possibly with `only_last`.
struct take_operation {
  static constexpr text_view name = "take";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr attributes how(int dim, out_of_range mode) noexcept {
    return integer_attributes(dim, static_cast<int>(mode));
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::first_operand, rank);
    out.factors[dim] = detail::looked_up(operands[0]);
    factor_map chosen;
    for (int d = 0; d < operands[1].rank(); ++d) {
      chosen.push_back(static_cast<std::uint8_t>(rank + d));
      out.factors.push_back(factor_kind::pass_through);
    }
    out.operands.push_back(chosen);
    out.result.clear();
    for (int d = 0; d < rank; ++d) {
      if (d != dim) {
        out.result.push_back(static_cast<std::uint8_t>(d));
        continue;
      }
      for (std::uint8_t f : chosen) out.result.push_back(f);
    }
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank() - 1 + operands[1].rank();
    if (rank > max_rank)
      return {.rule = violation::rank_is_too_high, .have = rank, .want = max_rank};
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_indices(operands, 1, operands.ssize());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, integer_attributes(how.integers[0]));
  }
  using sums = segment_sum_operation;
  /// Returns the attributes of the segment sum that is the gradient of `take`.
  [[nodiscard]] static constexpr attributes sums_how(const attributes& how, const tensor_desc& from,
                                                     const tensor_desc&) noexcept {
    const index_t dim = how.integers[0];
    return integer_attributes(dim, from.extents[static_cast<int>(dim)], how.integers[1]);
  }
  using emits = emitted_operations<sums>;
  static constexpr void gradient(gradient_step& at) {
    const attributes back = sums_how(at.how(), at.operand(0).tensor(), at.operand(1).tensor());
    at.give(0, emit<sums>(back, at.cotangent(), at.operand(1)));
  }
};

/// The operation that takes, at each position of the second operand, the element whose index along
/// a dimension is stored there. The integers are those of `take`. Along other dimensions the second
/// operand may be smaller, as in PyTorch; but not of size 1, which NumPy broadcasts.
struct take_along_operation {
  static constexpr text_view name = "take_along";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = same_dimensions_rule(linearity::first_operand, operands[0].rank());
    out.factors[dim] = detail::looked_up(operands[0]);
    const auto add = [&](int d, factor_kind kind) {
      out.result[d] = static_cast<std::uint8_t>(out.factors.ssize());
      out.factors.push_back(kind);
    };
    add(dim, factor_kind::pass_through);
    for (int d = 0; d < out.result.ssize(); ++d) {
      if (d == dim || !detail::takes_part(operands, d)) continue;
      out.factors[d] = factor_kind::need_replication;
      add(d, factor_kind::need_replication);
    }
    out.operands.push_back(out.result);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes& how,
                                                          const tensor_descs& operands) noexcept {
    return take_operation::check_elements(how, operands);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, integer_attributes(how.integers[0]));
  }
  using sums = sum_along_operation;
  [[nodiscard]] static constexpr attributes sums_how(const attributes& how, const tensor_desc& from,
                                                     const tensor_desc& indices) noexcept {
    attributes back = take_operation::sums_how(how, from, indices);
    bool is_part = false;
    for (int d = 0; d < from.rank(); ++d)
      is_part = is_part || (d != how.integers[0] && from.extents[d] != indices.extents[d]);
    if (is_part)
      for (index_t size : from.extents) back.integers.push_back(size);
    return back;
  }
  using emits = emitted_operations<sums>;
  static constexpr void gradient(gradient_step& at) {
    const attributes back = sums_how(at.how(), at.operand(0).tensor(), at.operand(1).tensor());
    at.give(0, emit<sums>(back, at.cotangent(), at.operand(1)));
  }
};

constexpr void segment_sum_operation::gradient(gradient_step& at) {
  at.give(0, emit<take_operation>(integer_attributes(at.how().integers[0], at.how().integers[2]),
                                  at.cotangent(), at.operand(1)));
}
constexpr void sum_along_operation::gradient(gradient_step& at) {
  at.give(0,
          emit<take_along_operation>(integer_attributes(at.how().integers[0], at.how().integers[2]),
                                     at.cotangent(), at.operand(1)));
}

/// The two operations whose attributes are types.
template <int Dim, out_of_range Mode>
struct take_of {
  using operation_class = take_operation;
  static constexpr attributes how = take_operation::how(Dim, Mode);
};
template <int Dim, out_of_range Mode>
struct take_along_of {
  using operation_class = take_along_operation;
  static constexpr attributes how = take_operation::how(Dim, Mode);
};

/// Returns the elements at these indices along a dimension; `take` in NumPy. The dimensions of the
/// indices replace the dimension and keep their splits, and all other dimensions keep theirs.
///
/// If the dimension is split, each device looks up the elements that it holds, and the result is a
/// pending sum. A pending sum of `x` stays pending. `Mode` chooses how to treat an index that is
/// out of range.
///
///     auto rows = take<0>(table, ids);       // f32[50@model, 8], i32[16@data] ->
///                                            // f32[16@data, 8]{partial sum: model}
///     auto near = take<0, out_of_range::clamp>(x, at);
template <int Dim, out_of_range Mode = out_of_range::error, NamedOperand X, NamedOperand Indices,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto take(X&& x, Indices&& indices, Given permitted = {})
    -> decltype(apply_operation<take_of<Dim, Mode>>(permitted, static_cast<X&&>(x),
                                                    static_cast<Indices&&>(indices))) {
  return apply_operation<take_of<Dim, Mode>>(permitted, static_cast<X&&>(x),
                                             static_cast<Indices&&>(indices));
}

/// Returns the rows of a table of embeddings: `take<0>`. If the rows of the table are split, the
/// result is a pending sum; if its columns are split, the result is split like them.
///
///     auto h = reshard<P<"data", none, none>>(embedding(table, ids));
template <out_of_range Mode = out_of_range::error, NamedOperand Table, NamedOperand Indices,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto embedding(Table&& table, Indices&& ids, Given permitted = {})
    -> decltype(apply_operation<take_of<0, Mode>>(permitted, static_cast<Table&&>(table),
                                                  static_cast<Indices&&>(ids))) {
  return apply_operation<take_of<0, Mode>>(permitted, static_cast<Table&&>(table),
                                           static_cast<Indices&&>(ids));
}

/// Returns, at each position of the indices, the element of `x` at that position whose index along
/// the dimension is stored there; `take_along_axis` in NumPy, `gather` in PyTorch. If the dimension
/// is split, the result is a pending sum, as for `take`.
///
/// All other dimensions are those of `x`. If the indices have fewer elements along one of them, but
/// not a single one, only as many of `x` are read, and neither may be split along it.
///
///     auto picked = take_along<1>(logits, labels);   // f32[8@data, 10], i32[8@data, 1]
template <int Dim, out_of_range Mode = out_of_range::error, NamedOperand X, NamedOperand Indices,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto take_along(X&& x, Indices&& indices, Given permitted = {})
    -> decltype(apply_operation<take_along_of<Dim, Mode>>(permitted, static_cast<X&&>(x),
                                                          static_cast<Indices&&>(indices))) {
  return apply_operation<take_along_of<Dim, Mode>>(permitted, static_cast<X&&>(x),
                                                   static_cast<Indices&&>(indices));
}

/// Error: indices are tensors, and a single one is a template argument of `index_at`.
template <int Dim, NamedOperand X, Scalar Index>
constexpr auto take(const X&, Index) -> internal::options_misplaced<"index_at<0, 2>(x)", X> {
  return {};
}

}  // namespace shardwise
