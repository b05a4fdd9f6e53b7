// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/einsum.hpp"
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
///       static constexpr reduction fold = reduction::max;
///       static constexpr bool distributes = true;
///     };
///     inline constexpr widest_path_semiring max_min{};
template <class S>
concept Semiring = requires {
  text_view(S::name);
  typename S::times;
  reduction{S::fold};
  requires std::same_as<const bool, decltype(S::distributes)>;
  requires(!requires { requires S::of_truth_values; } || S::fold == reduction::max ||
           S::fold == reduction::min);
};

namespace functions {
/// The sum of two lengths. The identity of `Fold`, infinity or the extreme integer, stands for no
/// path and is unchanged by addition. Integer sums saturate.
template <reduction Fold>
struct add_lengths : elementwise_function<"add_lengths"> {
  static constexpr reduction fold = Fold;
};
}  // namespace functions

/// Sums of products, the default of `einsum`.
struct plus_times_semiring {
  static constexpr text_view name = "plus_times";
  using times = functions::multiply;
  static constexpr reduction fold = reduction::sum;
  static constexpr bool distributes = true;
};
/// Minima of sums: shortest paths.
struct min_plus_semiring {
  static constexpr text_view name = "min_plus";
  using times = functions::add_lengths<reduction::min>;
  static constexpr reduction fold = reduction::min;
  static constexpr bool distributes = true;
};
/// Maxima of sums: longest paths, or most likely paths by log probability.
struct max_plus_semiring {
  static constexpr text_view name = "max_plus";
  using times = functions::add_lengths<reduction::max>;
  static constexpr reduction fold = reduction::max;
  static constexpr bool distributes = true;
};
/// Maxima of products. A negative factor turns a maximum into a minimum, so operands may not be
/// pending maxima.
struct max_times_semiring {
  static constexpr text_view name = "max_times";
  using times = functions::multiply;
  static constexpr reduction fold = reduction::max;
  static constexpr bool distributes = false;
};
/// Logical or of logical and: reachability.
struct or_and_semiring {
  static constexpr text_view name = "or_and";
  using times = functions::minimum;
  static constexpr reduction fold = reduction::max;
  static constexpr bool distributes = true;
  static constexpr bool of_truth_values = true;
};

inline constexpr plus_times_semiring plus_times{};
inline constexpr min_plus_semiring min_plus{};
inline constexpr max_plus_semiring max_plus{};
inline constexpr max_times_semiring max_times{};
inline constexpr or_and_semiring or_and{};

namespace detail {
/// True for a semiring of `bool`; all others are of numbers.
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
}  // namespace detail

/// The operation `einsum` over a semiring; the words of its attributes are the equation. It has no
/// gradient: `gradient` rejects it by name.
template <Semiring S>
struct semiring_operation {
  static constexpr text_view name = detail::contraction_name<S>;
  static constexpr bool distributes = S::distributes;

  [[nodiscard]] static constexpr attributes how(text_view equation) noexcept {
    return einsum_operation::how(equation);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    return folded_by(einsum_operation::rule(how, operands), S::fold, S::distributes);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << ' ' << text_view(how.words);
    return words;
  }
  [[nodiscard]] static constexpr element_verdict check_elements(
      const attributes&, const tensor_descs& operands) noexcept {
    if constexpr (detail::is_of_truth_values<S>)
      return check_truth_values(operands, operands.ssize());
    else
      return check_alike(operands);
  }
  /// A product and a fold for each point of the index space of one device, as of sums of products.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    return einsum_operation::cost(mesh, how, operands, result);
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

namespace detail {

/// The arithmetic of a contraction over a semiring.
template <Semiring auto Over>
struct arithmetic_over {
  using operation_class = semiring_operation<std::remove_const_t<decltype(Over)>>;
  static constexpr bool distributes = operation_class::distributes;
  template <fixed_string Equation>
  using applied = semiring_einsum_of<Equation, Over>;
};
template <>
struct arithmetic_over<plus_times> : sums_of_products {};

}  // namespace detail

/// Computes `einsum` over a semiring: its product and reduction replace multiplication and sum.
/// Contracting a split letter leaves the result pending with that reduction.
///
/// An empty contraction gives the identity of the reduction: infinity for `min_plus`, minus
/// infinity for `max_plus` and `max_times`, the extreme integers, and false for `or_and`. An
/// operand may be pending with the same reduction if the product distributes over it. It does not
/// communicate and has no gradient.
///
///     auto two = einsum<"ij,jk->ik", min_plus>(d, d);        // shortest paths of two edges
///     auto can = einsum<"ij,jk->ik", or_and>(edge, edge);    // of bool: reachability
template <fixed_string Equation, Semiring auto Over, class First, class... Rest>
  requires(sizeof...(Rest) < max_operands && detail::are_operands_alone<Rest...>)
[[nodiscard]] constexpr
    typename detail::contraction_if<detail::are_operands_alone<Rest...>,
                                    detail::arithmetic_over<Over>, Equation, First, Rest...>::type
    einsum(First&& first, Rest&&... rest) {
  using arithmetic = detail::arithmetic_over<Over>;
  using outcome = detail::contraction_of<arithmetic, Equation, void, First, Rest...>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else
    return detail::attempt_contraction<arithmetic, Equation, void>(first, rest...);
}
/// The same with the result resharded to the requested layout.
///
///     auto two = einsum<"ij,jk->ik", min_plus>(d, d, as<P<"data", none>>);
template <fixed_string Equation, Semiring auto Over, class First, class... Rest>
  requires(detail::ends_with_result_as<Rest...>())
[[nodiscard]] constexpr decltype(auto) einsum(First&& first, Rest&&... rest) {
  return detail::einsum_on_request<detail::arithmetic_over<Over>, Equation>(
      static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
}

}  // namespace shardwise
