// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/expression/whole.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/rule/permission.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// Names mesh axes over which an operation may communicate. Without it, an operation that needs
/// elements of other devices is an error that suggests a `reshard`; with it, that communication is
/// part of the operation and of its ledger.
///
///     cumsum<1>(x, across<"model">)
template <fixed_string... Axes>
struct across_axes {
  /// Checks that the mesh has all of these axes.
  [[nodiscard]] static constexpr diagnosis check(const mesh_desc& mesh) noexcept {
    diagnosis verdict;
    const auto look = [&](text_view axis) {
      if (mesh.find(axis) < 0 && verdict.ok())
        verdict = {.rule = violation::axis_is_not_in_mesh, .axis = short_name(axis)};
    };
    (look(Axes), ...);
    (void)look;
    return verdict;
  }
  /// Returns a bit mask of these axes in a mesh.
  [[nodiscard]] static constexpr unsigned bits(const mesh_desc& mesh) noexcept {
    [[maybe_unused]] const auto bit = [&](text_view axis) {
      const int a = mesh.find(axis);
      return a < 0 ? 0U : 1U << a;
    };
    return (bit(Axes) | ... | 0U);
  }
};
template <fixed_string... Axes>
inline constexpr across_axes<Axes...> across{};

namespace internal {

template <fixed_string... Axes>
inline constexpr bool are_across<across_axes<Axes...>> = true;

/// The types of an operation's operands after they have been gathered over permitted axes.
template <class Operation, class Permitted, class First, class... Rest>
struct fetched_from {
  using mesh_type = typename First::mesh_type;
  static constexpr tensor_descs operands{First::value, Rest::value...};
  static constexpr tensor_descs value = fetched(mesh_type::value, rule_of<Operation>(operands),
                                                operands, Permitted::bits(mesh_type::value));

  template <std::size_t I>
  struct layout_at {
    static constexpr const layout_desc& layout_value = value[I].layout;
  };
  /// The layout type of operand `I`, which is `Had` if nothing is gathered.
  template <std::size_t I, class Had>
  [[nodiscard]] static constexpr auto layout_of_operand() noexcept {
    if constexpr (value[I].layout == operands[I].layout)
      return std::type_identity<Had>{};
    else
      return std::type_identity<layout_from_value<mesh_type, layout_at<I>>>{};
  }
};

/// The call of an operation whose operands have been gathered over `Permitted`, and the operands
/// that it takes.
template <class Operation, class Permitted>
struct unpermitted {
  using call = whole_call<Operation, Permitted>;
  template <class Y>
  static constexpr bool takes = Operand<Y>;
};
template <class Function, class Permitted>
struct unpermitted<pointwise<Function>, Permitted> {
  using call = elementwise_call<Function>;
  template <class Y>
  static constexpr bool takes = Operand<Y> || Scalar<Y>;
};
/// Operand `Y` among `X...` on paper.
template <class Operation, class Y, class... X>
struct paper_operand {
  using type = paper_of<Y>;
};
template <class Function, class Y, class... X>
struct paper_operand<pointwise<Function>, Y, X...>
    : beside_of<mesh_of<tensor_among<X...>>, typename number_type<Function, X...>::type, Y> {};

/// An operation whose operands may first be gathered over permitted axes.
template <class Operation, class Permitted>
struct fetching_call {
  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (is_fetched<X...>())
      return judge_axes<X...>();
    else
      return judge_part<typename unpermitted<Operation, Permitted>::call, X...>();
  }
  template <class... X>
  [[nodiscard]] static constexpr auto apply(X&&... x) {
    if constexpr (is_fetched<X...>())
      return apply_fetched(std::index_sequence_for<X...>{}, static_cast<X&&>(x)...);
    else if constexpr ((... || ValueOperand<X>))
      return apply_to_values(first_tensor(x...).mesh(), static_cast<X&&>(x)...);
    else
      return unpermitted<Operation, Permitted>::call::apply(static_cast<X&&>(x)...);
  }

  /// Returns the operand of an operation that has one, gathered if necessary.
  template <class X>
  [[nodiscard]] static constexpr decltype(auto) gathered(X&& x) {
    if constexpr (is_fetched<X>()) {
      return fetch<operands_of<X>, 0>(static_cast<X&&>(x));
    } else if constexpr (ValueOperand<X>) {
      require(Permitted::check(x.mesh()));
      return value_domain_of<X>::type::template gathered<Operation>(Permitted::bits(x.mesh()),
                                                                    static_cast<X&&>(x));
    } else {
      return static_cast<X&&>(x);
    }
  }
  /// Calls `f` with the operands of an operation, gathered if necessary.
  template <class F, class... X>
  [[nodiscard]] static constexpr auto with_gathered(const F& f, const X&... x) {
    if constexpr (is_fetched<const X&...>())
      return call_fetched(f, std::index_sequence_for<X...>{}, x...);
    else if constexpr ((... || ValueOperand<X>))
      return value_domain_of<X...>::type::template with_gathered<Operation>(
          Permitted::bits(first_tensor(x...).mesh()), f, x...);
    else
      return f(x...);
  }

 private:
  template <class... X>
  using operands_of =
      fetched_from<Operation, Permitted, typename paper_operand<Operation, X, X...>::type...>;

  template <class... X>
  [[nodiscard]] static constexpr auto judge_axes() noexcept {
    using mesh_type = mesh_of<tensor_among<X...>>;
    using axes = decltype(answer_to<mesh_type>([] { return Permitted::check(mesh_type::value); }));
    if constexpr (axes::ok)
      return judge_fetched<X...>(std::index_sequence_for<X...>{});
    else
      return axes{};
  }
  template <class... X>
  [[nodiscard]] static auto apply_to_values(const mesh_desc& mesh, X&&... x) {
    require(Permitted::check(mesh));
    return value_domain_of<X...>::type::template apply_across<Operation>(Permitted::bits(mesh),
                                                                         static_cast<X&&>(x)...);
  }
  /// True if types determine what is gathered. Errors that a permission cannot fix are reported as
  /// usual.
  template <class... X>
  [[nodiscard]] static constexpr bool is_fetched() noexcept {
    if constexpr (AnyRefused<X...>)
      return false;
    else if constexpr ((... && unpermitted<Operation, Permitted>::template takes<X>))
      return is_on_one_mesh<mesh_of<tensor_among<X...>>, X...>() &&
             decltype(judge_attributes<Operation,
                                       typename paper_operand<Operation, X, X...>::type...>())::ok;
    else
      return false;
  }
  template <class Mesh, class... X>
  [[nodiscard]] static constexpr bool is_on_one_mesh() noexcept {
    return (... && [] {
      if constexpr (Operand<X>)
        return std::is_same_v<mesh_of<X>, Mesh>;
      else
        return true;
    }());
  }

  template <class... X, std::size_t... I>
  [[nodiscard]] static constexpr auto judge_fetched(std::index_sequence<I...>) noexcept {
    return judge_part<typename unpermitted<Operation, Permitted>::call,
                      decltype(fetch<operands_of<X...>, I>(std::declval<X>()))...>();
  }
  template <std::size_t... I, class... X>
  [[nodiscard]] static constexpr auto apply_fetched(std::index_sequence<I...>, X&&... x) {
    return unpermitted<Operation, Permitted>::call::apply(
        fetch<operands_of<X...>, I>(static_cast<X&&>(x))...);
  }
  template <class F, std::size_t... I, class... X>
  [[nodiscard]] static constexpr auto call_fetched(const F& f, std::index_sequence<I...>,
                                                   const X&... x) {
    return f(fetch<operands_of<const X&...>, I>(x)...);
  }

  /// Returns operand `I`, gathered if necessary.
  template <class All, std::size_t I, class X>
  [[nodiscard]] static constexpr decltype(auto) fetch(X&& x) {
    if constexpr (Scalar<X>) {
      return static_cast<X&&>(x);
    } else {
      using had = typename std::remove_cvref_t<X>::layout_type;
      using wanted = typename decltype(All::template layout_of_operand<I, had>())::type;
      if constexpr (std::is_same_v<had, wanted>)
        return static_cast<X&&>(x);
      else
        return reshard<wanted>(static_cast<X&&>(x));
    }
  }
};

}  // namespace internal

/// Applies an operation as `apply_operation` does, after gathering its operands over the permitted
/// axes where necessary.
template <class Operation, fixed_string... Axes, class... X>
[[nodiscard]] constexpr internal::outcome_of<
    internal::fetching_call<Operation, across_axes<Axes...>>, X...>
apply_operation(across_axes<Axes...>, X&&... x) {
  return internal::carry_out<internal::fetching_call<Operation, across_axes<Axes...>>>(
      static_cast<X&&>(x)...);
}
/// The same for a step of a composed operation whose result is laid out by its last step.
template <class Operation, class... None, class... X>
[[nodiscard]] constexpr internal::outcome_of<
    internal::fetching_call<Operation, internal::every_axis_of<None...>>, X...>
apply_operation(internal::every_axis_of<None...>, X&&... x) {
  return internal::carry_out<internal::fetching_call<Operation, internal::every_axis_of<None...>>>(
      static_cast<X&&>(x)...);
}

}  // namespace shardwise
