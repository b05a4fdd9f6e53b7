// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/paper_steps.hpp"
#include "shardwise/operation/semiring.hpp"

namespace shardwise::detail {

/// The operation that contracts over a semiring, its reduction, and its condition on element types.
struct contraction_over {
  const operation* what;
  reduction reduce;
  bool distributes;
  bool of_truth_values;
};
template <Semiring auto Over>
[[nodiscard]] constexpr contraction_over describe_contraction() noexcept {
  using semiring = std::remove_const_t<decltype(Over)>;
  return {&operation_of<typename arithmetic_over<Over>::operation_class>, semiring::reduce,
          semiring::distributes, is_of_truth_values<semiring>};
}
/// The semirings of the library, in the order of the parameter `semiring`.
inline constexpr contraction_over contractions[] = {
    describe_contraction<plus_times>(), describe_contraction<min_plus>(),
    describe_contraction<max_plus>(), describe_contraction<max_times>(),
    describe_contraction<or_and>()};

/// A contraction of any number of operands; its first integer selects the semiring. The second, if
/// there is one, is the element type to which operands are converted first.
struct contraction_judge {
  [[nodiscard]] static constexpr attributes how(text_view equation, index_t semiring) noexcept {
    attributes out = einsum_operation::how(equation);
    out.integers.push_back(semiring);
    return out;
  }
  [[nodiscard]] static constexpr const contraction_over& over(const attributes& how) noexcept {
    return contractions[how.integers[0]];
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs&) noexcept {
    const contraction_over& by = over(how);
    const factor_rule sums = parse_einsum(how.words, max_operands).rule;
    return by.reduce == reduction::sum ? sums : reduced_by(sums, by.reduce, by.distributes);
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes& how,
                                                          const tensor_descs& operands) noexcept {
    return over(how).of_truth_values ? check_truth_values(operands, operands.ssize())
                                     : check_alike(operands);
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const parsed_einsum parsed = parse_einsum(how.words, max_operands);
    if (!parsed.verdict.ok() || parsed.rule.operands.size() == operands.size())
      return parsed.verdict;
    return {.rule = violation::operand_count_differs,
            .have = operands.ssize(),
            .want = parsed.rule.operands.ssize()};
  }
};

/// The steps of contractions on abstract tensors.
namespace composed_steps {

/// One operand after another, in the order of `einsum`.
constexpr void contraction(paper_steps& at, const attributes& how, const tensor_descs& x,
                           tensor_results& out) {
  const contraction_over& by = contraction_judge::over(how);
  tensor_descs left = x;
  if (how.integers.size() > 1)
    for (tensor_desc& one : left)
      if (const auto in = static_cast<element>(how.integers[1]); one.type != in)
        one = at.apply(cast_to(in), {}, {one});
  bounded_text<47> equation = how.words;
  while (left.size() > 2) {
    operand_extents extents;
    for (const tensor_desc& one : left) extents.push_back(one.extents);
    const contraction_step step = first_contraction(equation, extents, by.distributes);
    tensor_descs rest{at.apply(*by.what, einsum_operation::how(step.pair),
                               {left[step.first], left[step.second]})};
    for (int o = 0; o < left.ssize(); ++o)
      if (o != step.first && o != step.second) rest.push_back(left[o]);
    if (!at.verdict().ok()) return;
    left = rest;
    equation = step.rest;
  }
  out.push_back(at.apply(*by.what, einsum_operation::how(equation), left));
}

}  // namespace composed_steps
}  // namespace shardwise::detail
