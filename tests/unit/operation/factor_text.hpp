// SPDX-License-Identifier: BSL-1.0
// The factor rule of an operation as text, as Shardy writes it.
#pragma once

#include <shardwise/paper.hpp>

namespace factors {

using namespace shardwise;

using rule_text = bounded_text<300>;

/// The letters of a rule's factors, in the order in which they are written: i, j, k, ...
struct letters {
  inplace_vector<std::uint8_t, max_factors> seen{};

  constexpr char of(int factor) {
    const auto f = static_cast<std::uint8_t>(factor);
    if (!seen.contains(f)) seen.push_back(f);
    int at = 0;
    while (seen[at] != f) ++at;
    return static_cast<char>('i' + at);
  }
};

/// Writes `([i, j], [j, k])->([i, k]) reduction={j}`: the factors of the dimensions of operands and
/// result, and those that are not passed through. A dimension that is formed from several factors
/// is `(ij)` if it is their product and `(i+j)` if it is their sum; `.` is a dimension of size 1
/// that is repeated or kept; `windows={k of j}` says that each index of k reads a window of j.
constexpr rule_text write_rule(const factor_rule& rule) {
  rule_text out;
  letters names;
  const auto map = [&](const factor_map& dims) {
    out << '[';
    for (int d = 0; d < dims.ssize(); ++d) {
      if (d > 0) out << ", ";
      const int c = dims[d] == repeated ? -1 : rule.composite_of(dims[d]);
      if (dims[d] == repeated) {
        out << '.';
      } else if (c < 0) {
        out << names.of(dims[d]);
      } else {
        const composite_factor& formed = rule.composites[c];
        out << '(';
        for (int p = 0; p < formed.parts.ssize(); ++p) {
          if (p > 0 && formed.how == composition::sum) out << '+';
          out << names.of(formed.parts[p]);
        }
        out << ')';
      }
    }
    out << ']';
  };
  out << '(';
  for (int o = 0; o < rule.operands.ssize(); ++o) {
    if (o > 0) out << ", ";
    map(rule.operands[o]);
  }
  out << ")->(";
  map(rule.result);
  out << ')';
  constexpr text_view kinds[] = {"", "reduction", "need_replication", "permutation", "blocked"};
  for (int kind = 1; kind < 5; ++kind) {
    bool is_first = true;
    for (std::uint8_t f : names.seen)
      if (rule.factors[f] == static_cast<factor_kind>(kind)) {
        if (is_first)
          out << ' ' << kinds[kind] << "={";
        else
          out << ", ";
        out << names.of(f);
        is_first = false;
      }
    if (!is_first) out << '}';
  }
  for (int w = 0; w < rule.windows.ssize(); ++w)
    out << (w == 0 ? " windows={" : ", ") << names.of(rule.windows[w].reader) << " of "
        << names.of(rule.windows[w].source);
  if (!rule.windows.empty()) out << '}';
  return out;
}

}  // namespace factors
