// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/fixed_string.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/rule_text.hpp"

namespace shardwise {

/// The verdict of a rule: nothing is wrong, or which rule is broken, where, and by how much.
///
/// Unused fields keep their defaults. `operand` and `dim` count from 0; `have` is the actual size
/// and `want` the required one.
struct diagnosis {
  violation rule = violation::nothing;
  int operand = -1;
  int dim = -1;
  short_name axis{};
  index_t have = 0;
  index_t want = 0;

  /// Returns true if nothing is wrong.
  [[nodiscard]] constexpr bool ok() const noexcept { return rule == violation::nothing; }

  friend constexpr bool operator==(const diagnosis&, const diagnosis&) = default;
};

/// Returns the sentence of a diagnosis, as `error::what` does: the rule, what it demands, and the
/// facts.
///
///     axis_is_not_in_mesh: a partition spec may only name axes of its mesh (dimension 1, axis
///     'modle')
[[nodiscard]] constexpr message_text describe(const diagnosis& verdict) noexcept {
  message_text out;
  const rule_text& rule = text_of(verdict.rule);
  out << name_of(verdict.rule) << ": " << rule.demand;
  text_view separator = " (";
  const auto fact = [&](text_view label) -> message_text& {
    out << separator << label;
    separator = ", ";
    return out;
  };
  if (verdict.operand >= 0) fact(rule.part) << ' ' << verdict.operand;
  if (verdict.dim >= 0) fact("dimension ") << verdict.dim;
  if (!verdict.axis.empty()) fact(rule.label) << " '" << verdict.axis << "'";
  if (rule.sizes == sizes_told::device) {
    fact("device ") << verdict.have;
  } else if (rule.sizes == sizes_told::rank) {
    fact("") << verdict.have << " where at least " << -verdict.want << " and less than "
             << verdict.want << " is needed";
  } else if (verdict.have != 0 || verdict.want != 0) {
    constexpr text_view between[] = {
        " where ",        " into ", " of ", " where less than ", " where a multiple of ",
        " devices where "};
    constexpr text_view after[] = {" is needed", " equal parts", " characters",
                                   " is needed", " is needed",   " are needed"};
    const auto told = static_cast<unsigned>(rule.sizes);
    fact("") << verdict.have << between[told] << verdict.want << after[told];
  }
  if (separator == ", ") out << ")";
  return out;
}

}  // namespace shardwise
