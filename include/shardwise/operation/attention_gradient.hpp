// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/attention_operation.hpp"

namespace shardwise {

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
    const factor_map of = out.operands[how.integers[1]];
    if (out.operands.size() > 3) {
      out.operands.push_back(out.operands[3]);
      out.operands[3] = cotangent;
    } else {
      out.operands.push_back(cotangent);
    }
    return cotangent_rule(out, of);
  }
  /// Returns a rule with the result `of`: the sum over the indices that it does not have, which are
  /// those of queries and of the heads that share a head of keys, or of the dimensions along which
  /// a mask is broadcast.
  [[nodiscard]] static constexpr factor_rule cotangent_rule(factor_rule rule,
                                                            const factor_map& of) noexcept {
    rule.result = of;
    for (int f = 0; f < rule.factors.ssize(); ++f)
      if (rule.factors[f] == factor_kind::pass_through && rule.composite_of(f) < 0 &&
          rule.dim_with(of, static_cast<std::uint8_t>(f)) < 0)
        rule.factors[f] = factor_kind::reduction;
    return rule;
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
  using emits = emitted_operations<attention_second_gradient_operation>;
  static constexpr void gradient(gradient_step& at);
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
  using emits = emitted_operations<attention_second_gradient_operation>;
  static constexpr void gradient(gradient_step& at);

 private:
  [[nodiscard]] static constexpr attributes of_queries(const attributes& how) noexcept {
    return integer_attributes(how.integers[0], 0);
  }
};

/// The cotangent of one operand of the gradient of attention. The first integer attribute is that
/// of the attention; the second is the number of the operand: 0 for queries, 1 for keys, 2 for
/// values, 3 for the cotangent of the attention's result, 4 for a mask of numbers to add. The third
/// has a bit for each cotangent of the attention that was computed: of queries, keys, values and
/// the mask. The operands are those of the gradient, and the cotangents of these, which may have
/// the heads of the queries. The fourth is 1 if the result, of keys or values, has these heads too.
struct attention_second_gradient_operation {
  static constexpr text_view name = "attention_second_gradient";
  static constexpr views_read reads = views_read::any;

  /// Returns true if the cotangent of an operand of the attention was computed.
  [[nodiscard]] static constexpr bool has_cotangent_of(const attributes& how,
                                                       int operand) noexcept {
    return (how.integers[2] >> operand & 1) != 0;
  }
  /// Returns the number of operands of the gradient of attention, which come first.
  [[nodiscard]] static constexpr int own_operands(const attributes& how, int all) noexcept {
    for (int o = 0; o < 4; ++o) all -= has_cotangent_of(how, o) ? 1 : 0;
    return all;
  }

  /// The same as that of the gradient, whose results are further operands.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    tensor_descs given;
    for (int k = 0; k < own_operands(how, operands.ssize()); ++k) given.push_back(operands[k]);
    const factor_rule own =
        attention_gradient_operation::rule(integer_attributes(how.integers[0], 0), given);
    factor_rule out = own;
    const int head = operands[0].rank() - 3;
    for (int o = 0; o < 4; ++o) {
      if (!has_cotangent_of(how, o)) continue;
      factor_map map = own.operands[o < 3 ? o : 4];
      if (o < 3 && operands[out.operands.ssize()].extents[head] == operands[0].extents[head])
        map[head] = own.operands[0][head];
      out.operands.push_back(map);
    }
    factor_map result = own.operands[how.integers[1]];
    if (how.integers[3] != 0) result[head] = own.operands[0][head];
    return attention_gradient_operation::cotangent_rule(out, result);
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
  /// At most eight products, of which attention has two.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    return {.flops = 4 * attention_operation::cost(mesh, how, operands, result).flops};
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    constexpr text_view of[] = {" of queries", " of keys", " of values", " of the cotangent",
                                " of the mask"};
    bounded_text<47> words;
    words << name << of[how.integers[1]];
    return words;
  }
  /// Gives the cotangents of all operands of a gradient whose results are `given`, a bit for each.
  static constexpr void give_all(gradient_step& at, int given) {
    value_ids read;
    for (int k = 0; k < at.operand_count(); ++k) read.push_back(at.operand(k).id);
    for (int o = 0, result = 0; o < 4; ++o)
      if ((given >> o & 1) != 0) read.push_back(at.cotangent(result++).id);
    for (int k = 0; k < at.operand_count(); ++k)
      if (at.wants(k))
        at.give(k, at.emit(operation_of<attention_second_gradient_operation>,
                           integer_attributes(at.how().integers[0], k, given, 0), read));
  }
  using emits = emitted_operations<attention_gradient_operation, attention_gradients_operation>;
  /// Linear in the cotangents of the gradient. The transposed function is the gradient of the
  /// attention if the result belongs to a cotangent of the attention, and otherwise, since second
  /// derivatives are symmetric, this operation. There are no third derivatives.
  static constexpr void gradient(gradient_step& at);
};

constexpr void attention_gradient_operation::gradient(gradient_step& at) {
  attention_second_gradient_operation::give_all(at, 1 << at.how().integers[1]);
}
constexpr void attention_gradients_operation::gradient(gradient_step& at) {
  attention_second_gradient_operation::give_all(at, 7);
}

constexpr void attention_second_gradient_operation::gradient(gradient_step& at) {
  const attributes how = at.how();
  const auto attending = how.integers[0], of = how.integers[1];
  const int own = own_operands(how, at.operand_count()), head = at.operand(0).tensor().rank() - 3;
  const bool is_of_cotangent = of == 3;
  value_ids read;
  for (int k = 0; k < own; ++k) {
    const bool is_replaced = is_of_cotangent && k == 3;
    if (at.wants(k) && !is_replaced) fail({.rule = violation::operation_has_no_gradient}, name);
    read.push_back(is_replaced ? at.cotangent().id : at.operand(k).id);
  }
  if (!is_of_cotangent) read.push_back(at.cotangent().id);
  const auto has_query_heads = [&](int k) {
    return at.operand(k).tensor().extents[head] == at.operand(0).tensor().extents[head] &&
           at.operand(1).tensor().extents[head] != at.operand(0).tensor().extents[head];
  };
  gradient_value all;
  for (int o = 0, k = own; o < 4; ++o) {
    if (!has_cotangent_of(how, o)) continue;
    const int direction = k++;
    if (!at.wants(direction)) continue;
    const bool per_head = (o == 1 || o == 2) && has_query_heads(direction);
    if (!is_of_cotangent) {
      at.give(direction, at.emit(operation_of<attention_second_gradient_operation>,
                                 integer_attributes(attending, o == 3 ? 4 : o,
                                                    1 << (of == 4 ? 3 : of), per_head ? 1 : 0),
                                 read));
    } else if (how.integers[2] == 7 || per_head) {
      if (all.step == nullptr)
        all = at.emit(operation_of<attention_gradients_operation>, integer_attributes(attending),
                      read);
      at.give(direction, o == 0 ? all : at.further(all, o, all.tensor().type));
    } else {
      at.give(direction, at.emit(operation_of<attention_gradient_operation>,
                                 integer_attributes(attending, o), read));
    }
  }
}

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

}  // namespace shardwise
