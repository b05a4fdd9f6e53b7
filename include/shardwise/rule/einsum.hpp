// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/rule/factor_rule.hpp"

#include <bit>

namespace shardwise {

/// The rule of an einsum, or the reason why its equation is malformed.
struct parsed_einsum {
  factor_rule rule{};
  /// The letter of each factor, for messages.
  inplace_vector<char, max_factors> letters{};
  diagnosis verdict{};
};

/// Reads `"bi,io->bo"`: letters name the dimensions of at most `most` operands, and then of the
/// result. A letter that is not in the result is summed; a letter repeated in one operand selects
/// its diagonal.
///
/// `have` of the diagnosis is the position of the first illegal character.
///
///     static_assert(parse_einsum("bi,io->bo").rule.operands.size() == 2);
[[nodiscard]] constexpr parsed_einsum parse_einsum(text_view equation, int most = 2) noexcept {
  parsed_einsum parsed;
  const auto refuse_at = [&](std::size_t position) {
    parsed.verdict = {.rule = violation::einsum_is_malformed,
                      .have = static_cast<index_t>(position),
                      .want = static_cast<index_t>(equation.size())};
    return parsed;
  };
  factor_rule& rule = parsed.rule;
  rule.law = linearity::multilinear;
  rule.operands.push_back({});
  bool arrow = false;
  for (std::size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    if (c == ',' && !arrow && rule.operands.ssize() < most) {
      rule.operands.push_back({});
    } else if (c == '-' && !arrow && i + 1 < equation.size() && equation[i + 1] == '>') {
      arrow = true;
      ++i;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      int factor = parsed.letters.find(c);
      if (arrow) {
        if (factor < 0 || rule.result.full() ||
            rule.result.contains(static_cast<std::uint8_t>(factor)))
          return refuse_at(i);
        rule.result.push_back(static_cast<std::uint8_t>(factor));
        rule.factors[factor] = factor_kind::pass_through;
        continue;
      }
      factor_map& map = rule.operands[rule.operands.size() - 1];
      if (map.full()) return refuse_at(i);
      if (factor < 0) {
        if (rule.factors.full()) return refuse_at(i);
        factor = parsed.letters.ssize();
        parsed.letters.push_back(c);
        rule.factors.push_back(factor_kind::reduction);
      }
      map.push_back(static_cast<std::uint8_t>(factor));
    } else {
      return refuse_at(i);
    }
  }
  return arrow ? parsed : refuse_at(equation.size());
}

/// The equation of a batch of contractions: a letter that it does not have yet stands first in the
/// result and in the operands whose bits are set. Empty where there is no room for it.
///
///     static_assert(batched_equation("bi,io->bo", 0b01) == "abi,io->abo");
[[nodiscard]] constexpr bounded_text<47> batched_equation(text_view equation,
                                                          unsigned mapped) noexcept {
  bounded_text<47> out;
  if (equation.size() + static_cast<std::size_t>(std::popcount(mapped)) + 1 > 47) return out;
  char letter = 'a';
  const auto is_used = [&] {
    for (char c : equation)
      if (c == letter) return true;
    return false;
  };
  while (is_used()) letter = letter == 'z' ? 'A' : static_cast<char>(letter + 1);
  int operand = 0;
  bool begins = true;
  for (char c : equation) {
    if (begins && operand >= 0 && (mapped >> operand & 1U) != 0) out << letter;
    begins = c == ',';
    if (begins) ++operand;
    if (c == '-') operand = -1;
    out << c;
    if (c == '>') out << letter;
  }
  return out;
}

/// Returns the rule of a contraction over another semiring: the reduction over summed letters, and
/// whether products distribute over it. If they do not, operands may not be pending.
[[nodiscard]] constexpr factor_rule reduced_by(factor_rule rule, reduction reduce,
                                               bool distributes) noexcept {
  rule.reduce = reduce;
  if (rule.operands.size() == 1)
    rule.law = law_of(reduce);
  else
    rule.law = distributes ? linearity::multilinear : linearity::nonlinear;
  return rule;
}

}  // namespace shardwise
