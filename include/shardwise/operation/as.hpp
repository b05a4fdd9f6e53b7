// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

/// Requests a layout for the result of an operation: a spec `P<...>` with the policy of the result
/// unless one is given, or a whole layout.
template <class Target, class Policy = void>
struct result_as {
  /// Casts a tensor with a run-time layout to the type `Target`, checked.
  template <class X>
  [[nodiscard]] constexpr auto operator()(const X& x) const
      -> decltype(checked_as(std::type_identity<Target>{}, x)) {
    return checked_as(std::type_identity<Target>{}, x);
  }
};
/// Requests the layout of a result, as the last argument of an operation; JAX's `out_sharding`. It
/// permits the communication that this takes: what `across` would permit over every axis, and that
/// of the result, which reduces a pending sum, or reduces and scatters it. The ledger and `explain`
/// show all of it.
///
/// Every operation accepts it, elementwise functions and composed ones such as `softmax` included;
/// operators are written as functions, `add(x, y, as<...>)`. Each of several results gets the
/// layout, such as both of a search and the parts of `split_at`.
///
///     auto y = einsum<"bi,io->bo">(x, w, as<P<"data", "model">>);   // one reduce_scatter
///     auto z = softmax<1>(logits, as<P<"data", none>>);
///     auto s = add(x, row, as<P<"data", none>>);
///     auto u = softmax<1>(logits, as<P<none, "data">, uneven>);
///
/// For a tensor `x` with a run-time layout, `as<X>(x)` is the checked cast to type `X`.
template <class Target, class Policy = void>
inline constexpr result_as<Target, Policy> as{};

/// Requests a layout that is a value; see `out_sharding`.
template <class Target>
struct result_sharding {
  Target target;
};
/// Requests the layout of a result that is an `any_tensor`, as `as` does by a type: a `spec_desc`,
/// or a whole `layout_desc`.
///
///     auto y = softmax<1>(logits, out_sharding(spec_desc{{"data", ""}}));
[[nodiscard]] constexpr result_sharding<spec_desc> out_sharding(const spec_desc& spec) noexcept {
  return {spec};
}
[[nodiscard]] constexpr result_sharding<layout_desc> out_sharding(
    const layout_desc& layout) noexcept {
  return {layout};
}

namespace internal {

template <class Target, class Policy>
inline constexpr bool is_result_as<result_as<Target, Policy>> = true;
template <class Target>
inline constexpr bool is_result_as<result_sharding<Target>> = true;
/// The call that reshards a result of an operation to the requested layout.
struct lay_out_call {
  template <class Given, class Made>
  [[nodiscard]] static constexpr auto judge() noexcept {
    return requested<std::remove_cvref_t<Given>>::template judge<std::remove_cvref_t<Made>>();
  }
  template <class Given, class Made>
  [[nodiscard]] static constexpr auto apply(const Given& given, Made&& made) {
    return requested<Given>::apply(given, static_cast<Made&&>(made));
  }

 private:
  template <class Given>
  struct requested;
  template <class Target, class Policy>
  struct requested<result_as<Target, Policy>> {
    template <class Made>
    [[nodiscard]] static constexpr auto judge() noexcept {
      return judge_part<reshard_call<Target, Policy>, Made>();
    }
    template <class Made>
    [[nodiscard]] static constexpr auto apply(const result_as<Target, Policy>&, Made&& made) {
      return reshard<Target, Policy>(static_cast<Made&&>(made));
    }
  };
  template <class Target>
  struct requested<result_sharding<Target>> {
    template <class Made>
    [[nodiscard]] static constexpr auto judge() noexcept {
      if constexpr (ValueOperand<Made>)
        return allowed<Made>{};
      else
        return refused<misuse::target_is_not_a_layout, shown_operand<Target>>{};
    }
    template <class Made>
    [[nodiscard]] static constexpr auto apply(const result_sharding<Target>& given, Made&& made) {
      return reshard(made, given.target);
    }
  };
};

/// Reshards the result of an operation to the requested layout.
template <class Given, class Made>
[[nodiscard]] constexpr outcome_of<lay_out_call, const Given&, Made> lay_out(const Given& given,
                                                                             Made&& made) {
  return carry_out<lay_out_call>(given, static_cast<Made&&>(made));
}

/// The same if the terms of a call request a layout; otherwise returns the result itself.
template <class Given, class Made>
[[nodiscard]] constexpr auto laid_out_on(const Given& given, Made&& made) {
  if constexpr (is_result_as<Given>)
    return lay_out(given, static_cast<Made&&>(made));
  else
    return std::remove_cvref_t<Made>(static_cast<Made&&>(made));
}

/// A call whose first argument is its terms; if these request a layout, its result is resharded to
/// it, or each of its results.
template <class Call>
struct call_on_terms {
  template <class Given, class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using given = std::remove_cvref_t<Given>;
    using made = decltype(Call::template judge<X...>());
    if constexpr (!made::ok || !is_result_as<given>)
      return made{};
    else
      return judge_made<given>(static_cast<typename made::type*>(nullptr));
  }
  template <class Given, class... X>
  [[nodiscard]] static constexpr auto apply(const Given& given, X&&... x) {
    if constexpr (is_result_as<Given>)
      return laid_out(given, Call::apply(static_cast<X&&>(x)...));
    else
      return Call::apply(static_cast<X&&>(x)...);
  }

 private:
  template <class Given, class Made>
  [[nodiscard]] static constexpr auto judge_made(Made*) noexcept {
    return lay_out_call::judge<Given, Made>();
  }
  template <class Given, class First, class Second>
  [[nodiscard]] static constexpr auto judge_made(std::pair<First, Second>*) noexcept {
    return judge_each<std::pair, Given, First, Second>();
  }
  template <class Given, class... Made>
  [[nodiscard]] static constexpr auto judge_made(std::tuple<Made...>*) noexcept {
    return judge_each<std::tuple, Given, Made...>();
  }
  template <template <class...> class Results, class Given, class... Made>
  [[nodiscard]] static constexpr auto judge_each() noexcept {
    using judged = typename first_refusal<decltype(lay_out_call::judge<Given, Made>())...>::type;
    if constexpr (judged::ok)
      return allowed<Results<typename decltype(lay_out_call::judge<Given, Made>())::type...>>{};
    else
      return judged{};
  }
  template <class Given, class Made>
  [[nodiscard]] static constexpr auto laid_out(const Given& given, Made&& made) {
    return lay_out_call::apply(given, static_cast<Made&&>(made));
  }
  template <class Given, class First, class Second>
  [[nodiscard]] static constexpr auto laid_out(const Given& given,
                                               std::pair<First, Second>&& made) {
    return std::pair(lay_out_call::apply(given, std::move(made.first)),
                     lay_out_call::apply(given, std::move(made.second)));
  }
  template <class Given, class... Made>
  [[nodiscard]] static constexpr auto laid_out(const Given& given, std::tuple<Made...>&& made) {
    return std::apply(
        [&](Made&... one) { return std::tuple(lay_out_call::apply(given, std::move(one))...); },
        made);
  }
};
template <class Call>
inline constexpr int result_count<call_on_terms<Call>> = result_count<Call>;
/// Terms that consist only of axes do not change a call.
template <class Call, fixed_string... Axes, class... X>
struct outcome<call_on_terms<Call>, across_axes<Axes...>, X...> : outcome<Call, X...> {};

/// The result type of a call with terms, and the call.
template <class Call, Terms Given, class... X>
using outcome_on = outcome_of<call_on_terms<Call>, Given, X...>;
template <class Call, Terms Given, class... X>
[[nodiscard]] constexpr outcome_on<Call, Given, X...> carry_out_on(const Given& given, X&&... x) {
  using made = outcome<call_on_terms<Call>, Given, X...>;
  if constexpr (made::is_refusal)
    return made::value();
  else
    return call_on_terms<Call>::apply(given, static_cast<X&&>(x)...);
}

/// A call whose last argument is its terms, for a function of any number of other arguments;
/// `CallWith` is the call with permitted axes.
template <template <class> class CallWith>
struct call_with_terms {
  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    return judge_all<std::tuple<X&&...>>(std::make_index_sequence<sizeof...(X) - 1>{});
  }
  template <class... X>
  [[nodiscard]] static constexpr auto apply(X&&... x) {
    return apply_all(std::make_index_sequence<sizeof...(X) - 1>{},
                     std::forward_as_tuple(static_cast<X&&>(x)...));
  }

 private:
  template <class Given>
  using call = call_on_terms<CallWith<permitted_by<std::remove_cvref_t<Given>>>>;

  template <class All, std::size_t... I>
  [[nodiscard]] static constexpr auto judge_all(std::index_sequence<I...>) noexcept {
    using given = std::tuple_element_t<sizeof...(I), All>;
    return call<given>::template judge<given, std::tuple_element_t<I, All>...>();
  }
  template <std::size_t... I, class All>
  [[nodiscard]] static constexpr auto apply_all(std::index_sequence<I...>, All&& all) {
    const auto& given = std::get<sizeof...(I)>(all);
    return call<decltype(given)>::apply(
        given, static_cast<std::tuple_element_t<I, std::remove_cvref_t<All>>>(std::get<I>(all))...);
  }
};
/// The call of a function whose last argument of `X` may request a layout.
template <class Call>
struct requested_call {
  template <class>
  using with = Call;
  using type = call_with_terms<with>;
};
template <class Call, class... X>
using maybe_requested =
    std::conditional_t<ends_with_result_as<X...>(), typename requested_call<Call>::type, Call>;

/// The operands of an operation on terms are gathered as an error would suggest.
template <class Operation>
struct fetching_whole {
  template <class Permitted>
  using with = fetching_call<Operation, Permitted>;
};
template <class Function>
struct elementwise_call_on_terms
    : call_with_terms<fetching_whole<pointwise<Function>>::template with> {};

/// The call of an operation on any number of tensors, the last of which may be followed by terms.
/// An error suggests the permission too.
template <class Operation, class... X>
using whole_call_maybe_on_terms =
    std::conditional_t<ends_with_terms<X...>(),
                       call_with_terms<fetching_whole<Operation>::template with>,
                       fetching_call<Operation, across_axes<>>>;

}  // namespace internal

/// Applies an operation and reshards its result to the requested layout.
template <class Operation, class Target, class Policy, class... X>
[[nodiscard]] constexpr internal::outcome_on<
    internal::fetching_call<Operation, internal::every_axis>, result_as<Target, Policy>, X...>
apply_operation(result_as<Target, Policy> wanted, X&&... x) {
  return internal::carry_out_on<internal::fetching_call<Operation, internal::every_axis>>(
      wanted, static_cast<X&&>(x)...);
}
template <class Operation, class Target, class... X>
[[nodiscard]] constexpr internal::outcome_on<
    internal::fetching_call<Operation, internal::every_axis>, result_sharding<Target>, X...>
apply_operation(result_sharding<Target> wanted, X&&... x) {
  return internal::carry_out_on<internal::fetching_call<Operation, internal::every_axis>>(
      wanted, static_cast<X&&>(x)...);
}

}  // namespace shardwise
