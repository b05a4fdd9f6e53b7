// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/text.hpp"
#include "shardwise/layout/extents.hpp"
#include "shardwise/rule/factor_rule.hpp"

namespace shardwise {

/// The first step of a contraction of several tensors: which two of them are contracted, by which
/// equation, and the remaining equation, in which their product is the first operand.
struct contraction_step {
  int first = 0;
  int second = 1;
  bounded_text<47> pair{};
  bounded_text<47> rest{};
};

namespace internal {

/// The letters of the operands and of the result of an equation such as `bi,ij->bj`.
struct equation_words {
  inplace_vector<text_view, max_operands> operands{};
  text_view result{};

  explicit constexpr equation_words(text_view equation) noexcept {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= equation.size(); ++i) {
      const bool is_end = i == equation.size() || equation[i] == ',' || equation[i] == '-';
      if (!is_end) continue;
      if (!operands.full()) operands.push_back(equation.substr(begin, i - begin));
      begin = i + 1;
      if (i < equation.size() && equation[i] == '-') {
        result = equation.substr(i + 2, equation.size());
        break;
      }
    }
  }
};
[[nodiscard]] constexpr bool names_letter(text_view word, char letter) noexcept {
  for (char c : word)
    if (c == letter) return true;
  return false;
}
[[nodiscard]] constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// True for an equation that `named_dimensions` writes out: one with `...`, with spaces, or without
/// a result.
[[nodiscard]] constexpr bool is_abbreviated(text_view equation) noexcept {
  return names_letter(equation, '.') || names_letter(equation, ' ') || !names_letter(equation, '-');
}

/// An equation without spaces and with its result: if that is not written, it has the letters that
/// the equation has once, in alphabetical order, behind `...` if operands have that.
[[nodiscard]] constexpr bounded_text<128> with_result_letters(text_view equation) noexcept {
  bounded_text<128> out;
  for (const char c : equation)
    if (c != ' ') out << c;
  if (names_letter(equation, '-')) return out;
  out << "->";
  if (names_letter(equation, '.')) out << "...";
  for (const char first : {'A', 'a'})
    for (char c = first; c < first + 26; ++c) {
      int count = 0;
      for (const char other : equation) count += other == c ? 1 : 0;
      if (count == 1) out << c;
    }
  return out;
}

}  // namespace internal

/// Replaces `...` in an equation, the leading dimensions of operands that are not named, by
/// letters. These dimensions are aligned at the last one and broadcast, as in NumPy: one of size 1
/// beside others gets a letter of its own, over which the contraction sums its only element.
/// Removes spaces, and adds a result that is not written. Other equations are unchanged.
///
///     named_dimensions("...ij,jk->...ik", {{2, 3, 4}, {4, 5}});           // "Zij,jk->Zik"
///     named_dimensions("...ij,...jk->...ik", {{2, 3, 4}, {1, 4, 5}});     // "Zij,Yjk->Zik"
///     named_dimensions("ij, jk", {{3, 4}, {4, 5}});                       // "ij,jk->ik"
[[nodiscard]] constexpr bounded_text<47> named_dimensions(text_view abbreviated,
                                                          const operand_extents& extents) noexcept {
  const bounded_text<128> written = internal::with_result_letters(abbreviated);
  const text_view equation(written);
  const internal::equation_words words(equation);
  const auto left_over = [&](int o) {
    if (o >= extents.ssize()) return 0;
    int named = 0;
    for (char c : words.operands[o]) named += internal::is_letter(c) ? 1 : 0;
    const int rank = extents[o].ssize();
    return internal::names_letter(words.operands[o], '.') && rank > named ? rank - named : 0;
  };
  // The position of the operand's dimension that is the `place`th from the last of its leading
  // dimensions; negative if it has none there.
  const auto dim_at = [&](int o, int place) {
    if (place >= left_over(o)) return -1;
    const text_view word = words.operands[o];
    int before = 0;
    for (std::size_t i = 0; word[i] != '.'; ++i) before += internal::is_letter(word[i]) ? 1 : 0;
    return before + left_over(o) - 1 - place;
  };
  int most = 0;
  for (int o = 0; o < words.operands.ssize(); ++o)
    if (left_over(o) > most) most = left_over(o);

  // Letters from the end of the alphabet that the equation does not use, one for each leading
  // dimension of the operand that has the most. Operands with fewer have the last of these.
  bounded_text<128> used;
  used << equation;
  const auto fresh_letter = [&] {
    for (const char last : {'Z', 'z'})
      for (char c = last; c > last - 26; --c)
        if (!internal::names_letter(text_view(used), c)) {
          used << c;
          return c;
        }
    return '?';
  };
  char shared[max_rank]{};
  bool is_broadcast[max_rank]{};  // some operand has a size other than 1 there
  for (int place = most - 1; place >= 0; --place) {
    shared[place] = fresh_letter();
    for (int o = 0; o < words.operands.ssize(); ++o)
      if (const int d = dim_at(o, place); d >= 0 && extents[o][d] != 1) is_broadcast[place] = true;
  }

  bounded_text<47> out;
  int operand = 0;
  for (std::size_t i = 0; i < equation.size(); ++i) {
    if (!(equation.substr(i, 3) == "...")) {
      if (equation[i] == ',') ++operand;
      if (equation[i] == '-') operand = max_operands;
      out << equation[i];
      continue;
    }
    for (int place = (operand == max_operands ? most : left_over(operand)) - 1; place >= 0; --place)
      if (operand != max_operands && is_broadcast[place] &&
          extents[operand][dim_at(operand, place)] == 1)
        out << fresh_letter();
      else
        out << shared[place];
    i += 2;
  }
  return out;
}

/// Chooses which two operands of an equation are contracted first: those whose product costs the
/// fewest multiplications, and the first of equal ones. Extents known only at run time count as 1.
///
/// Letters that no other operand has are summed immediately. If products do not distribute over the
/// reduction, as `distributes` tells, all letters are kept until the last step.
///
///     first_contraction("ab,bc,cd->ad", {{8, 4}, {4, 2}, {2, 8}}).pair;     // "ab,bc->ac"
[[nodiscard]] constexpr contraction_step first_contraction(text_view equation,
                                                           const operand_extents& extents,
                                                           bool distributes = true) noexcept {
  const internal::equation_words words(equation);
  const auto cost = [&](int a, int b) {
    double points = 1;
    for (const int o : {a, b})
      for (int d = 0; d < extents[o].ssize() && d < static_cast<int>(words.operands[o].size());
           ++d) {
        const text_view word = words.operands[o];
        const char letter = word[static_cast<std::size_t>(d)];
        const bool is_known =
            internal::names_letter(word.substr(0, static_cast<std::size_t>(d)), letter) ||
            (o == b && internal::names_letter(words.operands[a], letter));
        if (!is_known && extents[o][d] != dyn) points *= static_cast<double>(extents[o][d]);
      }
    return points;
  };
  contraction_step out;
  double least = -1;
  for (int a = 0; a < words.operands.ssize(); ++a)
    for (int b = a + 1; b < words.operands.ssize(); ++b)
      if (const double points = cost(a, b); least < 0 || points < least) {
        least = points;
        out.first = a;
        out.second = b;
      }
  const text_view a = words.operands[out.first], b = words.operands[out.second];
  const auto is_read_later = [&](char letter) {
    if (!distributes || internal::names_letter(words.result, letter)) return true;
    for (int o = 0; o < words.operands.ssize(); ++o)
      if (o != out.first && o != out.second && internal::names_letter(words.operands[o], letter))
        return true;
    return false;
  };
  bounded_text<47> kept;
  for (const text_view word : {a, b})
    for (char c : word)
      if (is_read_later(c) && !internal::names_letter(text_view(kept), c)) kept << c;
  out.pair << a << ',' << b << "->" << text_view(kept);
  out.rest << text_view(kept);
  for (int o = 0; o < words.operands.ssize(); ++o)
    if (o != out.first && o != out.second) out.rest << ',' << words.operands[o];
  out.rest << "->" << words.result;
  return out;
}

}  // namespace shardwise
