// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/number.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshape.hpp"

namespace shardwise {

/// Which keys a query attends to: all, or those up to its own position.
enum class attends : std::uint8_t { to_all, to_earlier };

struct attention_gradient_operation;
struct attention_gradients_operation;

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

/// The cotangent of one operand of attention. The first integer attribute is that of the attention;
/// the second is the number of the operand: 0 for queries, 1 for keys, 2 for values, 3 for a mask
/// of numbers to add. The operands are queries, keys and values, the cotangent of the result, and
/// the mask if there is one.
struct attention_gradient_operation {
  static constexpr text_view name = "attention_gradient";
  static constexpr views_read reads = views_read::any;

  /// The same as that of attention, except that all elements of a query are needed together, and
  /// that the cotangent is a sum over what the heads, queries and batches share.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    tensor_descs given{operands[0], operands[1], operands[2]};
    if (operands.size() > 4) given.push_back(operands[4]);
    factor_rule out = attention_operation::rule(how, given);
    const factor_map cotangent = out.result;
    out.factors[cotangent.back()] = factor_kind::need_replication;
    out.result = out.operands[how.integers[1]];
    if (out.operands.size() > 3) {
      out.operands.push_back(out.operands[3]);
      out.operands[3] = cotangent;
    } else {
      out.operands.push_back(cotangent);
    }
    if (how.integers[1] == 0) return out;
    // Indices that the operand does not have: queries and the heads that share a head of keys, or
    // the dimensions along which a mask is broadcast.
    for (int f = 0; f < out.factors.ssize(); ++f)
      if (out.factors[f] == factor_kind::pass_through && out.composite_of(f) < 0 &&
          out.dim_with(out.result, static_cast<std::uint8_t>(f)) < 0)
        out.factors[f] = factor_kind::reduction;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return attention_operation::check(how, {operands[0], operands[1], operands[2]});
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike({operands[0], operands[1], operands[2], operands[3]});
  }
  [[nodiscard]] static constexpr element result_type(const attributes&,
                                                     const tensor_descs& operands) noexcept {
    return operands[0].type;
  }
  /// The scores are computed again, and there are two more products.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    return {.flops = 2 * attention_operation::cost(mesh, how, operands, result).flops};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    constexpr text_view of[] = {" of queries", " of keys", " of values", " of the mask"};
    bounded_text<47> words;
    words << name << of[how.integers[1]];
    return words;
  }
};

/// The cotangents of queries, keys and values that differ at most in their heads, and whose
/// positions are not split: three results with the heads of the queries, so that heads which share
/// keys have a cotangent each. The integer attribute and the operands are those of
/// `attention_gradient`.
struct attention_gradients_operation {
  static constexpr text_view name = "attention_gradients";
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = attention_gradient_operation::rule(of_queries(how), operands);
    out.factors[out.operands[0].ssize() - 2] = factor_kind::need_replication;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return attention_gradient_operation::check(how, operands);
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes& how,
                                                          const tensor_descs& operands) noexcept {
    return attention_gradient_operation::check_elements(how, operands);
  }
  [[nodiscard]] static constexpr element result_type(const attributes&,
                                                     const tensor_descs& operands) noexcept {
    return operands[0].type;
  }
  /// Five products, of which attention has two.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    return {.flops = attention_operation::cost(mesh, how, operands, result).flops / 2 * 5};
  }

 private:
  [[nodiscard]] static constexpr attributes of_queries(const attributes& how) noexcept {
    return integer_attributes(how.integers[0], 0);
  }
};

constexpr bool attention_operation::are_cotangents_alike(gradient_step& at) {
  const tensor_desc q = at.operand(0).tensor(), k = at.operand(1).tensor();
  const int head = q.rank() - 3;
  tensor_desc with_heads = k;
  with_heads.extents[head] = q.extents[head];
  // Each device has the same number of heads of keys, and one dimension may be added.
  const index_t parts = at.mesh().parts(q.layout.dims[head]);
  const bool is_shared = q.extents[head] != k.extents[head];
  return at.wants(0) && at.wants(1) && at.wants(2) && q == with_heads &&
         k == at.operand(2).tensor() && q.layout.pending == 0 &&
         q.layout.dims[q.rank() - 2].empty() &&
         (!is_shared || (k.extents[head] % parts == 0 && q.rank() < max_rank));
}

/// Adds up the cotangents of the heads that share a head of keys.
constexpr gradient_value attention_operation::sum_of_group(const gradient_value& each,
                                                           const tensor_desc& shared) {
  const extents_desc all = each.tensor().extents;
  const int head = shared.rank() - 3;
  if (all[head] == shared.extents[head]) return each;
  extents_desc by_group;
  for (int d = 0; d < shared.rank(); ++d) {
    by_group.push_back(shared.extents[d]);
    if (d == head) by_group.push_back(all[d] / shared.extents[d]);
  }
  return emit<reduction_operation>(
      reduction_operation::how(reduction::sum, 1U << (head + 1), false),
      emit<reshape_operation>(reshape_operation::how(by_group), each));
}

constexpr void attention_operation::gradient(gradient_step& at) {
  value_ids read{at.operand(0).id, at.operand(1).id, at.operand(2).id, at.cotangent().id};
  if (at.operand_count() > 3) read.push_back(at.operand(3).id);
  int next = 0;
  if (are_cotangents_alike(at)) {
    const gradient_value all = at.emit(operation_of<attention_gradients_operation>,
                                       integer_attributes(at.how().integers[0]), read);
    at.give(0, all);
    for (next = 1; next < 3; ++next)
      at.give(next,
              sum_of_group(at.further(all, next, all.tensor().type), at.operand(next).tensor()));
  }
  for (; next < at.operand_count(); ++next)
    if (at.wants(next))
      at.give(next, at.emit(operation_of<attention_gradient_operation>,
                            integer_attributes(at.how().integers[0], next), read));
}

/// Attention whose attributes are types.
template <attends To>
struct attention_of {
  using operation_class = attention_operation;
  static constexpr attributes how = integer_attributes(static_cast<int>(To));
};

namespace detail {
template <attends To, class Permitted>
using attention_call =
    fractional_call<attention_of<To>, fetching_call<attention_of<To>, Permitted>>;
}  // namespace detail

/// Returns scaled dot-product attention: `softmax(q k^T / sqrt(d)) v` for each head, of queries
/// `[..., heads, queries, d]`, keys `[..., heads, keys, d]` and values `[..., heads, keys, e]`; the
/// result is `[..., heads, queries, e]`. The scores are never stored as a whole: the sum is
/// accumulated over blocks of keys.
///
/// If there are fewer heads of keys and values than of queries, consecutive heads of queries share
/// one (grouped-query attention). With `attends::to_earlier`, query `i` attends to the keys up to
/// `i`. A mask is broadcast to `[..., heads, queries, keys]`: `bool` elements select the keys that
/// a query attends to, numbers are added to the scores and may be learnt, such as relative
/// positions. A query that attends to no key gives zeros.
///
/// With `attends::to_earlier`, an integer `start` of rank 0 may replace the mask. It is the
/// position of the first query: query `i` attends to the keys up to `start + i`. Later keys are not
/// read, so they may be the unused part of a cache.
///
/// Its gradient has no gradient: for higher orders, write the products and the softmax.
///
/// All dimensions may be split except `keys` and `d`; heads may be split if each device has the
/// heads of keys that its queries need. Keys may be gathered over permitted axes.
///
///     auto y = attention<attends::to_earlier>(q, k, v);          // heads split over "model"
///     auto z = attention(q, k, v, mask, across<"seq">);
///     auto next = attention<attends::to_earlier>(q, cache.keys, cache.values, cache.filled);
template <attends To = attends::to_all, NamedOperand Q, NamedOperand K, NamedOperand V,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::attention_call<To, internal::permitted_by<Given>>, Given, Q, K, V>
attention(Q&& q, K&& k, V&& v, const Given& given = {}) {
  return internal::carry_out_on<detail::attention_call<To, internal::permitted_by<Given>>>(
      given, static_cast<Q&&>(q), static_cast<K&&>(k), static_cast<V&&>(v));
}
template <attends To = attends::to_all, NamedOperand Q, NamedOperand K, NamedOperand V,
          NamedOperand Mask, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::attention_call<To, internal::permitted_by<Given>>, Given, Q, K, V, Mask>
attention(Q&& q, K&& k, V&& v, Mask&& mask, const Given& given = {}) {
  return internal::carry_out_on<detail::attention_call<To, internal::permitted_by<Given>>>(
      given, static_cast<Q&&>(q), static_cast<K&&>(k), static_cast<V&&>(v),
      static_cast<Mask&&>(mask));
}

}  // namespace shardwise
