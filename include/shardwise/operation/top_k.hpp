// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/search.hpp"
#include "shardwise/operation/sort.hpp"

namespace shardwise {

/// The largest values along a dimension, in descending order, and their indices. Its integers are
/// the dimension, the number of values and, if parts of the dimension are searched separately, the
/// number of parts: the result then has that many values for each part. A second operand has the
/// indices of the elements of the first. The second result holds indices.
struct top_k_operation {
  static constexpr text_view name = "top_k";
  static constexpr dims_among names{.count = 1};

  [[nodiscard]] static constexpr attributes how(int dim, index_t count) noexcept {
    return integer_attributes(dim, count);
  }
  [[nodiscard]] static constexpr attributes in_parts(const attributes& whole,
                                                     index_t parts) noexcept {
    return integer_attributes(whole.integers[0], whole.integers[1], parts);
  }
  /// The dimension, or each part of it, must not be split.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = same_dimensions_rule(linearity::nonlinear, operands[0].rank());
    const auto add = [&](factor_kind kind) {
      out.factors.push_back(kind);
      return static_cast<std::uint8_t>(out.factors.ssize() - 1);
    };
    out.factors[dim] = factor_kind::need_replication;
    if (how.integers.size() == 2) {
      const std::uint8_t taken = add(factor_kind::need_replication);
      out.sizes = out.given_sizes();
      out.sizes[taken] = how.integers[1];
      out.result[dim] = taken;
    } else {
      out.factors[dim] = factor_kind::pass_through;
      const std::uint8_t part = add(factor_kind::pass_through);
      const std::uint8_t inner = add(factor_kind::need_replication);
      const std::uint8_t taken = add(factor_kind::need_replication);
      const std::uint8_t found = add(factor_kind::pass_through);
      const auto whole = static_cast<std::uint8_t>(dim);
      out.composites.push_back({whole, composition::product, {part, inner}});
      out.composites.push_back({found, composition::product, {part, taken}});
      out.sizes = out.given_sizes();
      out.sizes[part] = how.integers[2];
      out.sizes[taken] = how.integers[1];
      out.result[dim] = found;
    }
    if (operands.size() > 1) out.operands.push_back(out.operands[0]);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const diagnosis verdict = over(how.integers[0]).judge(operands[0].rank());
    if (!verdict.ok()) return verdict;
    const auto dim = static_cast<int>(how.integers[0]);
    if (how.integers[1] < 1)
      return {.rule = violation::amount_is_out_of_range,
              .dim = dim,
              .have = how.integers[1],
              .want = 1};
    const index_t size = operands[0].extents[dim];
    if (size == dyn || how.integers[1] <= size) return {};
    return {.rule = violation::dimension_is_too_short,
            .operand = 0,
            .dim = dim,
            .have = size,
            .want = how.integers[1]};
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike({operands[0]});
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << ' ' << how.integers[0] << ' ' << how.integers[1];
    if (how.integers.size() > 2) words << " in " << how.integers[2] << " parts";
    return words;
  }
  using emits = emitted_operations<argsort_operation, take_along_operation, reshape_operation>;
  /// Each cotangent is moved back to the original position of its element.
  static constexpr void gradient(gradient_step& at) {
    if (!at.wants(0)) return;
    const extents_desc whole = at.operand(0).tensor().extents;
    const auto& numbers = at.how().integers;
    const internal::parted_dimension parted(whole, static_cast<int>(numbers[0]),
                                            numbers.size() > 2 ? numbers[2] : 0);
    const gradient_value x = internal::shaped(at.operand(0), parted.extents);
    const gradient_value dy = internal::shaped(at.cotangent(), parted.found(numbers[1]));
    at.give(0, internal::shaped(sort_operation::put_back(parted.dim, true, x, dy), whole));
  }
  /// Parts with fewer elements than requested are not searched separately.
  [[nodiscard]] static constexpr index_t parts_of(const mesh_desc& mesh, const tensor_desc& x,
                                                  const attributes& how,
                                                  unsigned permitted) noexcept {
    const index_t parts = searched_parts(mesh, x, how.integers[0], permitted);
    if (parts == 0) return 0;
    const index_t size = x.extents[static_cast<int>(how.integers[0])];
    return size / parts >= how.integers[1] ? parts : 0;
  }
};

/// The operation whose attributes are types.
template <int Dim, index_t Count>
struct top_k_of {
  using operation_class = top_k_operation;
  static constexpr attributes how = top_k_operation::how(Dim, Count);
};

/// Returns the `Count` largest values along a dimension, in descending order, and their indices:
/// the first of equal elements come first, and NaNs come after all numbers. The dimension must not
/// be split.
///
///     auto [best, at] = top_k<1, 5>(logits);             // f32[8@data, 5], i64[8@data, 5]
///
/// If the dimension is split, name its mesh axes with `across`. If the split is even and each part
/// has at least `Count` elements, each device searches its own part, and the candidates are
/// gathered; otherwise the dimension is gathered.
///
///     auto [best, at] = top_k<1, 5>(logits, across<"model">);
template <int Dim, index_t Count, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    internal::search_call<top_k_of<Dim, Count>, internal::permitted_by<Given>>, Given, X>
top_k(X&& x, const Given& given = {}) {
  return internal::carry_out_on<
      internal::search_call<top_k_of<Dim, Count>, internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

}  // namespace shardwise
