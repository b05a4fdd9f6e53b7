// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/composed.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::internal {

/// Converts a tensor to the element type used for arithmetic, and back: the result of a composition
/// is rounded once, not each of its steps.
template <class X>
[[nodiscard]] constexpr auto widened(const X& x) {
  if constexpr (AnyRefused<X>)
    return refused_value{};
  else if constexpr (std::is_same_v<compute_type<typename X::value_type>, typename X::value_type>)
    return X(x);
  else
    return cast<compute_type<typename X::value_type>>(x);
}
template <class T, class X>
[[nodiscard]] constexpr auto narrowed(X&& x) {
  if constexpr (AnyRefused<X>)
    return refused_value{};
  else if constexpr (std::is_same_v<T, typename std::remove_cvref_t<X>::value_type>)
    return std::remove_cvref_t<X>(static_cast<X&&>(x));
  else
    return cast<T>(static_cast<X&&>(x));
}
/// Converts a tensor to the element type in whose range its products are.
template <class X>
[[nodiscard]] constexpr auto for_products(X&& x) {
  if constexpr (AnyRefused<X>)
    return refused_value{};
  else
    return narrowed<squares_type<typename std::remove_cvref_t<X>::value_type>>(static_cast<X&&>(x));
}
/// Converts a result, which may be a pending sum, to elements of `T`. That of elements which are
/// rounded once is reduced over the permitted axes before; others stay pending.
template <class T, class X, class Permitted>
[[nodiscard]] constexpr auto finished_as(X&& x, Permitted permitted) {
  if constexpr (AnyRefused<X>)
    return refused_value{};
  else if constexpr (rounds_once<T>)
    return narrowed<T>(finished(static_cast<X&&>(x), permitted));
  else
    return with_terms_as<T>(static_cast<X&&>(x));
}

/// Returns the elements minus their maximum along a dimension. No function of these differences
/// that is normalised depends on the maximum, so gradients treat it as a constant.
template <int Dim, class X, class Permitted>
[[nodiscard]] constexpr auto below_greatest(const X& x, Permitted permitted) {
  return elementwise<functions::subtract_constant>(x, finished(max<Dim>(x, keep_dims), permitted));
}

/// The permission of a composed operation, over which only its steps communicate.
template <class Permitted>
struct of_steps : Permitted {
  [[nodiscard]] static constexpr shardwise::across_permission permission(
      const mesh_desc& mesh) noexcept {
    shardwise::across_permission out = permission_of<Permitted>(mesh);
    out.is_of_steps = true;
    return out;
  }
};

/// Checks a composed operation on tensors of which the layout of one is a value, after the
/// permitted communication. `Applied` is its form on abstract tensors.
template <class Applied, class Permitted, class First, class... Rest>
void require_rule(const First& first, const Rest&... rest) {
  const auto known_of = []<class X>(const X& x) -> tensor_desc {
    if constexpr (ValueOperand<X>)
      return x.tensor();
    else
      return desc_of(x);
  };
  const mesh_desc& mesh = first.mesh();
  require(Permitted::check(mesh));
  tensor_descs known{known_of(first), known_of(rest)...};
  using class_type = typename Applied::operation_class;
  const attributes& how = attributes_for<Applied>(known[0].rank());
  if constexpr (requires { class_type::check(how, known); }) require(class_type::check(how, known));
  const factor_rule rule = class_type::rule(how, known);
  known = fetched(mesh, rule, known, Permitted::bits(mesh));
  const diagnosis verdict = propagate(mesh, rule, known).verdict;
  if (!verdict.ok())
    fail(verdict, advice(mesh, rule, known, verdict, permission_of<Permitted>(mesh)));
}

/// Checks what a composition returns: if one of its steps is invalid, the step has reported it.
template <class Made>
[[nodiscard]] constexpr auto judge_composed() noexcept {
  if constexpr (AnyRefused<Made>)
    return refused<>{};
  else
    return allowed<Made>{};
}

}  // namespace shardwise::internal

namespace shardwise::detail {

/// The call of an operation on floating-point elements that is composed of others:
/// `Steps::apply(x...)`. `Applied` is its form on abstract tensors: its rule checks the first
/// `Judged` operands, after the permitted communication, and reports the errors of the composition.
template <class Applied, class Permitted, class Steps, int Judged = 1>
struct composed_call {
  template <class First, class... Rest>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using answer = decltype(judge_first<First, Rest...>());
    if constexpr (!answer::ok)
      return answer{};
    else if constexpr (!has_fractions(element_of<typename std::remove_cvref_t<First>::value_type>))
      return refused<misuse::elements_have_no_fractions,
                     of_types<Applied, typename std::remove_cvref_t<First>::value_type>>{};
    else if constexpr (!decltype(judge_steps<First, Rest...>())::ok)
      return judge_steps<First, Rest...>();
    else
      return judge_composed<decltype(run(std::declval<First>(), std::declval<Rest>()...))>();
  }
  template <class First, class... Rest>
  [[nodiscard]] static constexpr auto apply(First&& first, Rest&&... rest) {
    if constexpr (ValueOperand<First>) {
      if constexpr (Judged == 1)
        require_rule<Applied, of_steps<Permitted>>(first);
      else
        require_rule<Applied, of_steps<Permitted>>(first, rest...);
    }
    return run(static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  }

 private:
  using paper = fetching_call<Applied, of_steps<Permitted>>;

  template <class First, class... Rest>
  [[nodiscard]] static constexpr auto judge_first() noexcept {
    if constexpr (Judged == 1)
      return paper::template judge<First>();
    else
      return paper::template judge<First, Rest...>();
  }
  /// The verdict of the steps on their operands: an error found here is reported where the program
  /// calls, not among the steps.
  template <class... X>
  [[nodiscard]] static constexpr auto judge_steps() noexcept {
    if constexpr (requires { Steps::template judge<X...>(); })
      return Steps::template judge<X...>();
    else
      return allowed<>{};
  }
  template <class First, class... Rest>
  [[nodiscard]] static constexpr auto run(First&& first, Rest&&... rest) {
    using tensor = std::remove_cvref_t<First>;
    if constexpr (ValueOperand<First>) {
      if (first.layout().pending != 0) return Steps::apply(finished(first, Permitted{}), rest...);
      return Steps::apply(first, rest...);
    } else if constexpr (tensor::layout_type::value.pending != 0) {
      return Steps::apply(finished(static_cast<First&&>(first), Permitted{}), rest...);
    } else {
      // As a named value, since it is read more than once.
      return Steps::apply(first, rest...);
    }
  }
};

/// The rule of normalisation along dimensions, which must not be split.
[[nodiscard]] constexpr factor_rule normalising_rule(int rank, unsigned dims) noexcept {
  factor_rule out = same_dimensions_rule(linearity::nonlinear, rank);
  for (int d = 0; d < rank; ++d)
    if ((dims >> d & 1U) != 0) out.factors[d] = factor_kind::need_replication;
  return out;
}

}  // namespace shardwise::detail
