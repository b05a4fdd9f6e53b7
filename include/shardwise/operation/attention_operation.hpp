// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"

namespace shardwise {

/// Which keys a query attends to: all, or those up to its own position.
enum class attends : std::uint8_t { to_all, to_earlier };

struct attention_gradient_operation;
struct attention_gradients_operation;
struct attention_second_gradient_operation;

/// Scaled dot-product attention of queries, keys and values. The optional fourth operand
/// is a mask, or an integer of rank 0: the position of the first query among the keys. The integer
/// attribute is what queries attend to.
struct attention_operation {
  static constexpr text_view name = "attention";
  static constexpr views_read reads = views_read::any;

  /// The last three dimensions are heads, positions and elements. Several heads of queries share
  /// one head of keys and values: the dimension of query heads is then the product of both.
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::nonlinear, rank);
    const auto add = [&](factor_kind kind) {
      out.factors.push_back(kind);
      return static_cast<std::uint8_t>(out.factors.ssize() - 1);
    };
    const int head = rank - 3, query = rank - 2, inner = rank - 1;
    out.factors[inner] = factor_kind::need_replication;
    const std::uint8_t position = add(factor_kind::need_replication);
    out.result[inner] = add(factor_kind::pass_through);
    factor_map keys = out.operands[0];
    if (operands[0].extents[head] != operands[1].extents[head]) {
      keys[head] = add(factor_kind::pass_through);
      const std::uint8_t group = add(factor_kind::pass_through);
      out.composites.push_back(
          {static_cast<std::uint8_t>(head), composition::product, {keys[head], group}});
    }
    keys[query] = position;
    factor_map values = keys;
    values[inner] = out.result[inner];
    out.operands.push_back(keys);
    out.operands.push_back(values);
    if (operands.size() > 3) {
      // A mask is broadcast to [..., heads, queries, keys].
      factor_map scores = out.operands[0];
      scores[inner] = position;
      factor_map mask;
      const int missing = rank - operands[3].rank();
      for (int d = 0; d < operands[3].rank(); ++d) {
        const index_t size = operands[3].extents[d];
        const index_t met =
            d + missing == inner ? operands[1].extents[query] : operands[0].extents[d + missing];
        mask.push_back(size == 1 && met != 1 ? repeated : scores[d + missing]);
      }
      out.operands.push_back(mask);
    }
    return out;
  }
  /// Checks the ranks, and that the heads of queries are a multiple of those of keys.
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    if (rank < 3)
      return {.rule = violation::operand_rank_differs, .operand = 0, .have = rank, .want = 3};
    for (int o = 1; o < 3; ++o)
      if (operands[o].rank() != rank)
        return {.rule = violation::operand_rank_differs,
                .operand = o,
                .have = operands[o].rank(),
                .want = rank};
    if (operands.size() > 3 && operands[3].rank() > rank)
      return {.rule = violation::operand_rank_differs,
              .operand = 3,
              .have = operands[3].rank(),
              .want = rank};
    return {};
  }
  /// A mask holds `bool`, or numbers to add. A position needs `attends::to_earlier`.
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes& how,
                                                          const tensor_descs& operands) noexcept {
    const diagnosis alike = check_alike({operands[0], operands[1], operands[2]});
    if (!alike.ok() || operands.size() < 4) return alike;
    if (how.integers[0] == static_cast<int>(attends::to_earlier) && is_position(operands[3]))
      return {};
    const bool fits = operands[3].type == element::boolean || operands[3].type == operands[0].type;
    return fits ? diagnosis{} : diagnosis{.rule = violation::operand_is_no_mask, .operand = 3};
  }
  /// Returns true if the fourth operand is the position of the first query.
  [[nodiscard]] static constexpr bool is_position(const tensor_desc& fourth) noexcept {
    return fourth.rank() == 0 && is_whole_number(fourth.type);
  }
  /// A multiplication and an addition for each element of each query and key, and of each key and
  /// value.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    const int inner = operands[0].rank() - 1;
    const index_t width = operands[0].extents[inner];
    const index_t queries =
        width == 0 ? 0 : largest_shard_size(mesh, operands[0].layout, operands[0].extents) / width;
    return {.flops = 2 * queries * operands[1].extents[inner - 1] *
                     (width + operands[2].extents[inner])};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name;
    if (how.integers[0] != 0) words << text_view(" to earlier");
    return words;
  }
  using emits = emitted_operations<attention_gradient_operation, attention_gradients_operation,
                                   reshape_operation, reduction_operation>;
  /// Computes the scores again, so that they are never stored as a whole: once for all cotangents
  /// if these differ at most in their heads, and for each cotangent otherwise.
  static constexpr void gradient(gradient_step& at);

 private:
  [[nodiscard]] static constexpr bool are_cotangents_alike(gradient_step& at);
  [[nodiscard]] static constexpr gradient_value sum_of_group(const gradient_value& each,
                                                             const tensor_desc& shared);
};

}  // namespace shardwise
