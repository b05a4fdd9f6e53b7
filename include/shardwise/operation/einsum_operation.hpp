// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/rule/contraction_order.hpp"
#include "shardwise/rule/einsum.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

/// The operation `einsum`; its equation is the text of its attributes.
struct einsum_operation {
  static constexpr text_view name = "einsum";
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr attributes how(text_view equation) noexcept {
    attributes out;
    out.words << equation;
    return out;
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs&) noexcept {
    return parse_einsum(how.words).rule;
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << ' ' << text_view(how.words);
    return words;
  }
  /// A multiplication and an addition for each point of the index space of one device; for a single
  /// operand only an addition, and nothing for a transpose or a diagonal.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    const index_t points = local_points(mesh, how.words.data(), operands);
    if (operands.size() > 1) return {.flops = operands.ssize() * points};
    const bool reduces = points != largest_shard_size(mesh, result.layout, result.extents);
    return {.flops = reduces ? points : 0};
  }

  /// The batch is an additional letter.
  [[nodiscard]] static constexpr batched_form batched(const attributes& how, const tensor_descs&,
                                                      unsigned mapped, index_t) noexcept {
    const bounded_text<47> words = batched_equation(how.words, mapped);
    batched_form out{how};
    out.is_known = !words.empty() && parse_einsum(words).verdict.ok();
    if (out.is_known) out.how.words = words;
    return out;
  }

  /// The cotangent of an operand is a contraction of the other operands and the cotangent of the
  /// result. Along a letter that only this operand has, it is constant.
  static constexpr void gradient(gradient_step& at) {
    const text_view equation = at.how().words;
    for (int k = 0; k < at.operand_count(); ++k)
      if (at.wants(k)) at.give(k, cotangent_of(at, equation, k));
  }

  /// Returns the letters of operand `k` of an equation, or of its result if there is no such
  /// operand.
  [[nodiscard]] static constexpr text_view letters_of(text_view equation, int k) noexcept {
    std::size_t begin = 0;
    for (; k > 0; ++begin)
      if (equation[begin] == ',' || equation[begin] == '>') --k;
    std::size_t end = begin;
    while (end < equation.size() && equation[end] != ',' && equation[end] != '-') ++end;
    return {equation.data() + begin, end - begin};
  }
  /// Returns the contraction of values with these letters as a cotangent of operand `k`, whose
  /// letters are `own`: nonzero only on the diagonal of repeated letters, and constant along
  /// letters that no value has.
  [[nodiscard]] static constexpr gradient_value onto_operand(gradient_step& at, int k,
                                                             text_view own, bounded_text<47> words,
                                                             const value_ids& read) {
    // A repeated letter of the operand is represented by its last occurrence.
    const bounded_text<47> given = words;
    words << "->";
    extents_desc extents;
    bool is_whole = true;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const bool is_met = internal::names_letter(given, own[i]) && next_place(own, i) == own.size();
      if (is_met) words << own[i];
      is_whole = is_whole && is_met;
      extents.push_back(is_met ? at.operand(k).tensor().extents[static_cast<int>(i)] : 1);
    }
    gradient_value made = at.emit(operation_of<einsum_operation>, how(words), read);
    if (!is_whole) made = emit<reshape_operation>(reshape_operation::how(extents), made);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::size_t next = next_place(own, i);
      if (next == own.size()) continue;
      const auto index = [&](std::size_t place) {
        return emit<iota_like_operation>(iota_like_operation::how(static_cast<int>(place)),
                                         at.operand(k));
      };
      made = masked(made, elementwise<functions::equal>(index(i), index(next)));
    }
    return made;
  }

 private:
  [[nodiscard]] static constexpr gradient_value cotangent_of(gradient_step& at, text_view equation,
                                                             int k) {
    const text_view own = letters_of(equation, k);
    bounded_text<47> words;
    words << letters_of(equation, at.operand_count());
    value_ids read{at.cotangent().id};
    for (int o = 0; o < at.operand_count(); ++o) {
      if (o == k) continue;
      words << ',' << letters_of(equation, o);
      read.push_back(at.operand(o).id);
    }
    return onto_operand(at, k, own, words, read);
  }
  /// Returns the next occurrence of the letter at a position of a word, or the end if there is
  /// none.
  [[nodiscard]] static constexpr std::size_t next_place(text_view word, std::size_t i) noexcept {
    std::size_t next = i + 1;
    while (next < word.size() && word[next] != word[i]) ++next;
    return next;
  }

  /// Returns the number of points of one device's part of the index space: the product of the parts
  /// of all letters, each as in the operand that is split most. The equation is valid, so it is not
  /// parsed again, which would slow down every trace.
  [[nodiscard]] static constexpr index_t local_points(const mesh_desc& mesh, const char* letters,
                                                      const tensor_descs& operands) noexcept {
    index_t parts[2 * max_rank + 1];  // indexed by the first occurrence of a letter
    index_t points = 1;
    int at = 0;
    for (const tensor_desc& operand : operands) {
      for (int d = 0; d < operand.rank(); ++d, ++at) {
        int first = 0;
        while (letters[first] != letters[at]) ++first;
        const index_t part = largest_part(mesh, operand.layout.dims[d], operand.layout.grains[d],
                                          operand.extents[d]);
        if (first == at) {
          points *= part;
          parts[at] = part;
        } else if (part < parts[first]) {
          points = points / parts[first] * part;
          parts[first] = part;
        }
      }
      ++at;
    }
    return points;
  }
};

/// A contraction whose equation is a type: `einsum_of<"bi,io->bo">`.
template <fixed_string Equation>
struct einsum_of {
  using operation_class = einsum_operation;
  static constexpr text_view equation = Equation;
  static constexpr parsed_einsum parsed = parse_einsum(Equation);
  static constexpr attributes how = einsum_operation::how(Equation);
  [[nodiscard]] static constexpr const factor_rule& rule(const tensor_descs&) noexcept {
    return parsed.rule;
  }
};

}  // namespace shardwise
