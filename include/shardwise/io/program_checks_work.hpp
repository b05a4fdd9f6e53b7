// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/named_operations_work.hpp"
#include "shardwise/operation/batched.hpp"
#include "shardwise/operation/infer_operation.hpp"
#include "shardwise/plan/manual_operation.hpp"

namespace shardwise::internal {

/// Checks the type of a value: its layout is legal on the mesh.
[[nodiscard]] constexpr diagnosis check_value(const mesh_desc& mesh,
                                              const tensor_desc& value) noexcept {
  if (const diagnosis verdict = validate(value.extents); !verdict.ok()) return verdict;
  if (const diagnosis verdict = validate(mesh, value.layout); !verdict.ok()) return verdict;
  return validate(mesh, value.layout, value.extents);
}

/// Checks the operands and the attributes of an operation, whose entry has the checks of its class,
/// as its function does.
[[nodiscard]] inline diagnosis check_application(const catalogued_operation& entry,
                                                 const attributes& how,
                                                 const tensor_descs& operands) {
  // What is searched in parts has the indices of the parts as a second operand.
  const int most = entry.parts != nullptr ? entry.most + 1 : entry.most;
  if (operands.ssize() < entry.least || operands.ssize() > most)
    return {.rule = violation::operand_count_differs,
            .have = operands.ssize(),
            .want = operands.ssize() < entry.least ? entry.least : most};
  if (entry.parts != nullptr) {
    const index_t parts = how.integers.size() > 1 ? how.integers.back() : 1;
    if (parts < 0) return {.rule = violation::amount_is_out_of_range, .have = parts, .want = 0};
  }
  if (const diagnosis verdict = entry.check(how, operands); !verdict.ok()) return verdict;
  return entry.check_elements(how, operands);
}

/// Returns the type that an operation with a rule makes of operands that have been checked.
[[nodiscard]] inline propagation infer_checked(const mesh_desc& mesh, const operation& what,
                                               const attributes& how,
                                               const tensor_descs& operands) {
  const factor_rule rule = what.rule(how, operands);
  propagation made;
  made.verdict = {.rule = violation::operand_count_differs,
                  .have = operands.ssize(),
                  .want = rule.operands.ssize()};
  if (rule.operands.size() != operands.size()) return made;
  made = infer(mesh, what, how, operands);
  if (const diagnosis sizes = check_result_sizes(rule, made); !sizes.ok()) made.verdict = sizes;
  return made;
}

/// Returns true if an elementwise operation whose operands have these extents together may have a
/// larger result, along whose further dimensions its elements are repeated, as cotangents are.
[[nodiscard]] constexpr bool is_repeated(const tensor_desc& met, const tensor_desc& out) noexcept {
  const int added = out.rank() - met.rank();
  if (added < 0 || met.type != out.type || met.layout.pending != out.layout.pending ||
      met.layout.kind != out.layout.kind || met.layout.manual != out.layout.manual)
    return false;
  for (int d = 0; d < met.rank(); ++d)
    if (met.extents[d] != 1 && (met.extents[d] != out.extents[added + d] ||
                                met.layout.dims[d] != out.layout.dims[added + d] ||
                                met.layout.grains[d] != out.layout.grains[added + d]))
      return false;
  return true;
}

/// Checks an operation that is applied to each element of a batch.
[[nodiscard]] inline diagnosis check_batched(const catalogued_operation& entry,
                                             const attributes& how, const tensor_descs& operands) {
  attributes of = how;
  tensor_descs each = operands;
  while (!of.batches.empty()) {
    const unsigned mapped = of.batches[0];
    if (mapped == 0 || mapped >> each.ssize() != 0)
      return {.rule = violation::amount_is_out_of_range,
              .have = index_t{mapped},
              .want = index_t{1} << each.ssize()};
    for (int k = 0; k < each.ssize(); ++k)
      if ((mapped >> k & 1U) != 0 && each[k].rank() == 0)
        return {.rule = violation::operand_rank_differs, .operand = k, .want = 1};
    each = vmap_operation::operands_of_each(of, each);
    of = vmap_operation::inner(of);
  }
  if (const diagnosis verdict = check_application(entry, of, each); !verdict.ok()) return verdict;
  const factor_rule one = entry.what->rule(of, each);
  const auto batches = how.batches.size();
  if (one.operands.size() != each.size() || one.factors.size() + batches > one.factors.capacity() ||
      one.result.size() + batches > one.result.capacity())
    return {.rule = violation::rank_is_too_high, .have = max_rank + 1, .want = max_rank};
  return {};
}

/// Returns true if a collective changes the layout of a tensor as its kind and its axes say.
[[nodiscard]] inline bool is_collective_between(const mesh_desc& mesh,
                                                const planned_transfer& moved,
                                                const tensor_desc& before,
                                                const tensor_desc& after) noexcept {
  const unsigned axes = bits_of(moved.axes);
  const unsigned split_after = bits_of(after.layout.splitting_axes());
  unsigned split = bits_of(before.layout.splitting_axes());
  unsigned pending = before.layout.pending;
  if (moved.kind == collective::slice || moved.kind == collective::reduce_scatter) split |= axes;
  if (moved.kind == collective::all_gather) split &= ~axes;
  if (moved.kind == collective::all_reduce || moved.kind == collective::reduce_scatter)
    pending &= ~axes;
  const bool is_permuted = moved.kind == collective::collective_permute;
  return before.type == after.type && before.extents == after.extents &&
         before.layout.manual == after.layout.manual && (is_permuted || split == split_after) &&
         pending == after.layout.pending && redistribute(mesh, before, after.layout).verdict.ok();
}

/// Returns true if the attributes are those of a collective on manual axes of this mesh.
[[nodiscard]] constexpr bool is_manual_collective(const mesh_desc& mesh,
                                                  const attributes& how) noexcept {
  const auto& numbers = how.integers;
  if (numbers.size() < 6 || numbers[0] < 0 || numbers[0] >= collective_count || numbers[3] < 0)
    return false;
  for (const int i : {1, 2})
    if (numbers[i] != manual_collective::nowhere && (numbers[i] < 0 || numbers[i] >= max_rank))
      return false;
  unsigned seen = 0;
  for (index_t packed = numbers[3] >> 2; packed != 0; packed >>= 4) {
    const index_t axis = (packed & 15) - 1;
    if (axis < 0 || axis >= mesh.rank() || (seen >> axis & 1U) != 0) return false;
    seen |= 1U << axis;
  }
  if (seen == 0) return false;
  if (numbers[4] < 0 || numbers[4] > static_cast<index_t>(position_moves::form::mirror))
    return false;
  if (numbers[5] < -max_devices || numbers[5] > max_devices) return false;
  for (int i = 6; i < numbers.ssize(); ++i)
    if (numbers[i] <= 0) return false;
  return numbers.ssize() - 6 <= position_moves::most_pairs / 2;
}

}  // namespace shardwise::internal
