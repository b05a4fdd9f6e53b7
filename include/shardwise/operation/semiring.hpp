// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/spec/reduction.hpp"

#include <concepts>
#include <type_traits>

namespace shardwise {

/// The arithmetic of a contraction: a product, which is a commutative and associative function of
/// two elements with a kernel, and a reduction of the products.
///
/// `distributes` promises that the product distributes over the reduction for all elements;
/// operands may then be pending. With `of_truth_values = true` the elements are `bool`, reduced by
/// maxima or minima; otherwise they are numbers.
///
///     struct widest_path_semiring {               // the path with the widest bottleneck
///       static constexpr text_view name = "max_min";
///       using times = functions::minimum;
///       static constexpr reduction reduce = reduction::max;
///       static constexpr bool distributes = true;
///     };
///     inline constexpr widest_path_semiring max_min{};
template <class S>
concept Semiring = requires {
  text_view(S::name);
  typename S::times;
  reduction{S::reduce};
  requires std::same_as<const bool, decltype(S::distributes)>;
  requires(!requires { requires S::of_truth_values; } || S::reduce == reduction::max ||
           S::reduce == reduction::min);
};

namespace functions {
/// The sum of two lengths. The identity of `Reduce`, infinity or the extreme integer, stands for no
/// path and is unchanged by addition. Integer sums saturate.
template <reduction Reduce>
struct add_lengths : elementwise_function<"add_lengths"> {
  static constexpr reduction reduce = Reduce;
};
}  // namespace functions

/// Sums of products, the default of `einsum`.
struct plus_times_semiring {
  static constexpr text_view name = "plus_times";
  using times = functions::multiply;
  static constexpr reduction reduce = reduction::sum;
  static constexpr bool distributes = true;
};
/// Minima of sums: shortest paths.
struct min_plus_semiring {
  static constexpr text_view name = "min_plus";
  using times = functions::add_lengths<reduction::min>;
  static constexpr reduction reduce = reduction::min;
  static constexpr bool distributes = true;
};
/// Maxima of sums: longest paths, or most likely paths by log probability.
struct max_plus_semiring {
  static constexpr text_view name = "max_plus";
  using times = functions::add_lengths<reduction::max>;
  static constexpr reduction reduce = reduction::max;
  static constexpr bool distributes = true;
};
/// Maxima of products. A negative factor turns a maximum into a minimum, so operands may not be
/// pending maxima.
struct max_times_semiring {
  static constexpr text_view name = "max_times";
  using times = functions::multiply;
  static constexpr reduction reduce = reduction::max;
  static constexpr bool distributes = false;
};
/// Logical or of logical and: reachability.
struct or_and_semiring {
  static constexpr text_view name = "or_and";
  using times = functions::minimum;
  static constexpr reduction reduce = reduction::max;
  static constexpr bool distributes = true;
  static constexpr bool of_truth_values = true;
};

inline constexpr plus_times_semiring plus_times{};
inline constexpr min_plus_semiring min_plus{};
inline constexpr max_plus_semiring max_plus{};
inline constexpr max_times_semiring max_times{};
inline constexpr or_and_semiring or_and{};

namespace internal {
template <class F>
inline constexpr bool is_add_lengths = false;
template <reduction Reduce>
inline constexpr bool is_add_lengths<functions::add_lengths<Reduce>> = true;

/// True for a semiring of `bool`; all others have numbers.
template <class S>
inline constexpr bool is_of_truth_values = requires {
  requires S::of_truth_values;
};
template <class S>
inline constexpr bounded_text<47> contraction_name = [] {
  bounded_text<47> words;
  words << einsum_operation::name << ' ' << S::name;
  return words;
}();
/// A semiring whose contractions have gradients: extremes of sums or of products of numbers.
template <class S>
concept HasExtremes = (S::reduce == reduction::max || S::reduce == reduction::min) &&
                      !is_of_truth_values<S> &&
                      (is_add_lengths<typename S::times> ||
                       std::is_same_v<typename S::times, functions::multiply>);
}  // namespace internal

/// The operation `einsum` over a semiring; the text of its attributes is the equation. If the
/// product is not a sum or product of numbers, or the elements are `bool`, it has no gradient, and
/// `gradient` reports its name.
template <Semiring S>
struct semiring_operation {
  static constexpr text_view name = internal::contraction_name<S>;
  static constexpr views_read reads = views_read::any;
  static constexpr bool distributes = S::distributes;

  [[nodiscard]] static constexpr attributes how(text_view equation) noexcept {
    return einsum_operation::how(equation);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    return reduced_by(einsum_operation::rule(how, operands), S::reduce, S::distributes);
  }
  [[nodiscard]] static constexpr batched_form batched(const attributes& how,
                                                      const tensor_descs& operands, unsigned mapped,
                                                      index_t size) noexcept {
    return einsum_operation::batched(how, operands, mapped, size);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << ' ' << text_view(how.words);
    return words;
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    if constexpr (internal::is_of_truth_values<S>)
      return check_truth_values(operands, operands.ssize());
    else
      return check_alike(operands);
  }
  /// A product and a reduction for each point of the index space of one device, as for sums of
  /// products.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    return einsum_operation::cost(mesh, how, operands, result);
  }

  using emits = emitted_operations<einsum_operation, iota_like_operation>;
  /// Each cotangent is given to the products that attain the extreme value; equal ones share it
  /// evenly.
  static constexpr void gradient(gradient_step& at) requires internal::HasExtremes<S> {
    const text_view equation = at.how().words;
    bounded_text<47> all;
    for (int k = 0; k < at.operand_count(); ++k)
      for (char letter : einsum_operation::letters_of(equation, k))
        if (!internal::names_letter(all, letter)) all << letter;
    if (all.size() > std::size_t{max_rank})
      fail({.rule = violation::operand_rank_differs,
            .have = static_cast<index_t>(all.size()),
            .want = max_rank});
    const text_view kept = einsum_operation::letters_of(equation, at.operand_count());
    const gradient_value best =
        elementwise<functions::equal>(products(at, all), along(at.result(), kept, all));
    const gradient_value count = summed(masked(at.number(1, at.operand(0)), best), all, kept, true);
    const gradient_value share = masked(along(at.cotangent(), kept, all) / count, best);
    for (int k = 0; k < at.operand_count(); ++k) {
      if (!at.wants(k)) continue;
      const text_view own = einsum_operation::letters_of(equation, k);
      gradient_value given = share;
      if constexpr (std::is_same_v<typename S::times, functions::multiply>)
        if (at.operand_count() > 1) given = share * factor(at, 1 - k, all);
      bounded_text<47> words;
      for (char letter : text_view(all))
        if (internal::names_letter(own, letter)) words << letter;
      at.give(k, einsum_operation::onto_operand(at, k, own, words,
                                                {summed(given, all, own, false).id}));
    }
  }

 private:
  /// Returns a value along all letters in their order, with size 1 along those that it lacks.
  [[nodiscard]] static constexpr gradient_value along(const gradient_value& value, text_view own,
                                                      text_view all) {
    bounded_text<47> words;
    words << own << "->";
    extents_desc extents;
    for (char letter : all) {
      index_t size = 1;
      for (std::size_t i = 0; i < own.size(); ++i)
        if (own[i] == letter) size = value.tensor().extents[static_cast<int>(i)];
      if (internal::names_letter(own, letter)) words << letter;
      extents.push_back(size);
    }
    const gradient_value ordered = emit<einsum_operation>(einsum_operation::how(words), value);
    return emit<reshape_operation>(reshape_operation::how(extents), ordered);
  }
  [[nodiscard]] static constexpr gradient_value factor(gradient_step& at, int k, text_view all) {
    return along(at.operand(k), einsum_operation::letters_of(at.how().words, k), all);
  }
  /// Returns the products along all letters. Products of `bfloat16` and `float16` are rounded as
  /// the extremes are, which a fused pass would not do for intermediate values.
  [[nodiscard]] static constexpr gradient_value products(gradient_step& at, text_view all) {
    if (at.operand_count() == 1) return factor(at, 0, all);
    const element type = at.operand(0).tensor().type;
    if (type != element::f32 && type != element::f64) {
      bounded_text<47> words;
      words << einsum_operation::letters_of(at.how().words, 0) << ','
            << einsum_operation::letters_of(at.how().words, 1) << "->" << all;
      return emit<semiring_operation>(how(words), at.operand(0), at.operand(1));
    }
    if constexpr (std::is_same_v<typename S::times, functions::multiply>)
      return factor(at, 0, all) * factor(at, 1, all);
    else
      return factor(at, 0, all) + factor(at, 1, all);
  }
  /// Returns the sum over the letters that are not kept.
  [[nodiscard]] static constexpr gradient_value summed(const gradient_value& value, text_view all,
                                                       text_view kept, bool keep) {
    unsigned reduced = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!internal::names_letter(kept, all[i])) reduced |= 1U << i;
    if (reduced == 0) return value;
    return emit<reduction_operation>(reduction_operation::how(reduction::sum, reduced, keep),
                                     value);
  }
};

/// A contraction over a semiring with its equation in the type: `semiring_einsum_of<"ij,jk->ik",
/// min_plus>`.
template <fixed_string Equation, Semiring auto Over>
struct semiring_einsum_of {
  using operation_class = semiring_operation<std::remove_const_t<decltype(Over)>>;
  static constexpr text_view equation = Equation;
  static constexpr parsed_einsum parsed = parse_einsum(Equation);
  static constexpr attributes how = operation_class::how(Equation);
};

namespace internal {

/// The arithmetic of a contraction over a semiring.
template <Semiring auto Over>
struct arithmetic_over {
  using operation_class = semiring_operation<std::remove_const_t<decltype(Over)>>;
  static constexpr bool distributes = operation_class::distributes;
  template <fixed_string Equation>
  using applied = semiring_einsum_of<Equation, Over>;
  [[nodiscard]] static constexpr factor_rule rule(text_view equation) noexcept {
    return reduced_by(parse_einsum(equation, max_operands).rule, Over.reduce, distributes);
  }
};
template <>
struct arithmetic_over<plus_times> : sums_of_products {};

}  // namespace internal

/// Computes `einsum` over a semiring: its product and reduction replace multiplication and sum.
/// Contracting a split letter leaves the result pending with that reduction.
///
/// An empty contraction gives the identity of the reduction: infinity for `min_plus`, minus
/// infinity for `max_plus` and `max_times`, the extreme integers, and false for `or_and`. An
/// operand may be pending with the same reduction if the product distributes over it. Nothing is
/// communicated. Gradients go to the terms that attain the extreme value, shared evenly between
/// equal ones; `or_and` and semirings with other products have none.
///
///     auto two = einsum<"ij,jk->ik", min_plus>(d, d);        // shortest paths of two edges
///     auto can = einsum<"ij,jk->ik", or_and>(edge, edge);    // of bool: reachability
template <fixed_string Equation, Semiring auto Over, class First, class... Rest>
  requires(sizeof...(Rest) < max_operands && detail::are_operands_alone<First, Rest...>)
[[nodiscard]] constexpr
    typename detail::contraction_if<detail::are_operands_alone<First, Rest...>,
                                    internal::arithmetic_over<Over>, Equation, First, Rest...>::type
    einsum(First&& first, Rest&&... rest) {
  using arithmetic = internal::arithmetic_over<Over>;
  using outcome = detail::contraction_of<arithmetic, Equation, void, First, Rest...>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else
    return detail::attempt_contraction<arithmetic, Equation, void>(first, rest...);
}
/// Contracts tensors with communication over permitted axes, or reshards the result to the
/// requested layout.
///
///     auto two = einsum<"ij,jk->ik", min_plus>(d, d, as<P<"data", none>>);
template <fixed_string Equation, Semiring auto Over, class First, class... Rest>
  requires(internal::ends_with_terms<Rest...>())
[[nodiscard]] constexpr
    typename detail::terms_if<internal::ends_with_terms<Rest...>(), internal::arithmetic_over<Over>,
                              Equation, First, Rest...>::type
    einsum(First&& first, Rest&&... rest) {
  return internal::carry_out<
      typename detail::contraction_on_terms<internal::arithmetic_over<Over>, Equation>::type>(
      static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
}

}  // namespace shardwise
