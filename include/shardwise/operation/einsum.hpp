// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"
#include "shardwise/rule/einsum.hpp"

namespace shardwise {

/// The operation `einsum`: its equation is the words of its attributes.
struct einsum_operation {
  static constexpr text_view name = "einsum";

  [[nodiscard]] static constexpr attributes how(text_view equation) noexcept {
    attributes out;
    out.words << equation;
    return out;
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs&) noexcept {
    return parse_einsum(how.words).rule;
  }
  [[nodiscard]] static constexpr text<47> label(const attributes& how) noexcept {
    text<47> words;
    words << name << ' ' << text_view(how.words);
    return words;
  }
  /// A multiplication and an addition for each point of the index space of one device; for one
  /// operand an addition alone, and nothing for a transpose or a diagonal.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    const index_t points = local_points(mesh, how.words.data(), operands);
    if (operands.size() > 1) return {.flops = operands.ssize() * points};
    const bool folds = points != largest_shard_size(mesh, result.layout, result.extents);
    return {.flops = folds ? points : 0};
  }

 private:
  /// The points of one device's part of the index space: the product of the parts of all letters,
  /// each as the operand has it that is split the most. The equation is right, so it is not parsed
  /// anew: compilers would feel that in every trace.
  [[nodiscard]] static constexpr index_t local_points(const mesh_desc& mesh, const char* letters,
                                                      const tensor_descs& operands) noexcept {
    index_t parts[2 * max_rank + 1];  // by the place of a letter where it stands first
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

/// A contraction as types have it: `einsum_of<"bi,io->bo">`.
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

namespace detail {

/// A contraction that is legal by the types of its operands alone.
template <fixed_string Equation, class First, class... Rest>
concept LegalEinsum = Operand<First> &&(...&& Operand<Rest>)&&requires {
  requires(... && std::is_same_v<typename std::remove_cvref_t<First>::domain,
                                 typename std::remove_cvref_t<Rest>::domain>);
  requires einsum_of<Equation>::parsed.verdict.ok();
  requires result_of<einsum_of<Equation>, paper_of<First>, paper_of<Rest>...>::is_legal;
};

/// Judges any other.
template <fixed_string Equation, class First, class... Rest>
[[nodiscard]] constexpr auto judge_einsum() noexcept {
  using applied = einsum_of<Equation>;
  if constexpr (AnyRefused<First, Rest...>) {
    return allowed<refused_value>{};
  } else if constexpr (!(EitherOperand<First> && ... && EitherOperand<Rest>)) {
    constexpr int at = first_false<EitherOperand<First>, EitherOperand<Rest>...>;
    return refused<no_tensor<applied, at, First, Rest...>>{};
  } else if constexpr (abstract_among<First, Rest...> >= 0) {
    return refused<operand_is_abstract<applied, operand<abstract_among<First, Rest...>>>>{};
  } else if constexpr (!applied::parsed.verdict.ok()) {
    return refused<einsum_is_malformed<Equation, int{applied::parsed.verdict.have}>>{};
  } else if constexpr ((ValueOperand<First> || ... || ValueOperand<Rest>)) {
    return value_domain_of<First, Rest...>::type::template judge<
        applied, typename std::remove_cvref_t<First>::value_type,
        typename std::remove_cvref_t<Rest>::value_type...>();
  } else {
    return judge<applied, paper_of<First>, paper_of<Rest>...>();
  }
}

/// What `einsum` gives for operands of these types.
template <fixed_string Equation, class... X>
struct einsum_outcome : given<decltype(judge_einsum<Equation, X...>())> {
  static constexpr bool is_typed = false;
};
template <fixed_string Equation, class First, class... Rest>
  requires LegalEinsum<Equation, First, Rest...>
struct einsum_outcome<Equation, First, Rest...> {
  static constexpr bool is_typed = true;
  using domain = typename std::remove_cvref_t<First>::domain;
  using result = result_of<einsum_of<Equation>, paper_of<First>, paper_of<Rest>...>;
  using paper = paper_from<result>;
  using type = typename domain::template made<einsum_of<Equation>, paper, First, Rest...>;
};

}  // namespace detail

/// Sums the products of one or two tensors over the letters that the result does not name.
///
/// Dimensions with the same letter must be split alike; a letter that is split and summed leaves
/// the result pending over its axes. No communication happens here. Where the layout of an operand
/// is a value the result's is one too; the equation may then be one: `einsum("bi,ih->bh", x, w1)`.
///
///     auto h = einsum<"bi,ih->bh">(x, w1);   // matrix product
///     auto t = einsum<"ij->ji">(x);          // transpose
template <fixed_string Equation, class First, class... Rest>
[[nodiscard]] constexpr typename detail::einsum_outcome<Equation, First, Rest...>::type einsum(
    First&& first, Rest&&... rest) {
  using applied = einsum_of<Equation>;
  using outcome = detail::einsum_outcome<Equation, First, Rest...>;
  if constexpr (outcome::is_typed) {
    using result = typename outcome::result;
    using paper = typename outcome::paper;
    using domain = typename outcome::domain;
    return domain::template apply<applied, paper>(
        known_for<domain, result>(first.mesh(), {&first.extents(), &rest.extents()...}),
        static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  } else if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else {
    return detail::value_domain_of<First, Rest...>::type::template apply<applied>(
        static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  }
}

}  // namespace shardwise
