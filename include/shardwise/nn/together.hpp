// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/error.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/expression/whole.hpp"
#include "shardwise/tensor/any_tensor.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// Replaces the path of a tensor if it is not needed.
struct no_path {};
[[nodiscard]] constexpr no_path step_down(no_path, const auto&) noexcept { return {}; }

/// True if frozen parts among these parts are visited: all of them, or buffers.
template <frozen_parts Frozen, class... Part>
inline constexpr bool are_visited = Frozen == frozen_parts::hold_tensors ||
                                    (Frozen == frozen_parts::are_buffers &&
                                     (... && (!FrozenNest<Part> || BufferNest<Part>)));
/// Returns the nest in a frozen part, or the nest itself.
template <class Part>
[[nodiscard]] constexpr auto& within(Part& part) noexcept {
  if constexpr (FrozenNest<std::remove_const_t<Part>>)
    return part.value;
  else
    return part;
}
template <class Part>
[[nodiscard]] constexpr bool is_absent(const Part& part) noexcept {
  if constexpr (FrozenNest<Part>)
    return is_left_out(part);
  else
    return false;
}
/// True for two nests whose outermost parts correspond.
template <class First, class Second>
inline constexpr bool parts_correspond = [] {
  constexpr nest_kind kind = nest_kind_of<First>(), other = nest_kind_of<Second>();
  constexpr auto has_parts = [](nest_kind of) {
    return of == nest_kind::tuple || of == nest_kind::aggregate;
  };
  if constexpr (has_parts(kind) && has_parts(other))
    return decltype(list_parts(std::declval<First&>()))::size ==
           decltype(list_parts(std::declval<Second&>()))::size;
  else
    return kind == other;
}();

/// The verdict on nests whose parts do not correspond.
struct differ_in_structure {
  static constexpr bool ok = false;
};
/// The verdict on two nests that are visited together, by their types: `Judge::of<X, Y>()` is that
/// on corresponding tensors.
template <frozen_parts Frozen, class Judge, class First, class Second>
[[nodiscard]] constexpr auto judge_together() noexcept {
  constexpr nest_kind kind = nest_kind_of<First>();
  if constexpr (FrozenNest<First> || FrozenNest<Second>) {
    if constexpr (are_visited<Frozen, First, Second>)
      return judge_together<Frozen, Judge,
                            std::remove_cvref_t<decltype(within(std::declval<First&>()))>,
                            std::remove_cvref_t<decltype(within(std::declval<Second&>()))>>();
    else
      return allowed<>{};
  } else if constexpr (!parts_correspond<First, Second>) {
    return differ_in_structure{};
  } else if constexpr (kind == nest_kind::tensor) {
    return Judge::template of<First, Second>();
  } else if constexpr (kind == nest_kind::range) {
    return judge_together<Frozen, Judge, typename First::value_type, typename Second::value_type>();
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    using parts = decltype(list_parts(std::declval<First&>()));
    using others = decltype(list_parts(std::declval<Second&>()));
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return typename first_refusal<
          decltype(judge_together<Frozen, Judge, std::remove_cvref_t<nth_type<I, parts>>,
                                  std::remove_cvref_t<nth_type<I, others>>>())...,
          allowed<>>::type{};
    }
    (std::make_index_sequence<parts::size>{});
  } else {
    return allowed<>{};
  }
}
/// Accepts all corresponding tensors.
struct any_tensors {
  template <class X, class Y>
  [[nodiscard]] static constexpr auto of() noexcept {
    return allowed<>{};
  }
};
/// Returns whether nests are accepted, and reports an error if they are not: where the program
/// calls, in few lines.
template <class Judged>
[[nodiscard]] constexpr bool is_judged_well() {
  constexpr bool have_same_structure = !std::is_same_v<Judged, differ_in_structure>;
  static_assert(have_same_structure, "nests that are visited together have the same structure");
  if constexpr (!Judged::ok && have_same_structure) (void)report<Judged>();
  return Judged::ok;
}

/// Calls `f` with the path of each tensor and the corresponding tensors of several nests of the
/// same structure. `Frozen` states which frozen parts are visited; those that a nest leaves out are
/// not.
template <frozen_parts Frozen = frozen_parts::are_constants, class Path, class F, class First,
          class... Rest>
constexpr void walk_together(const F& f, const Path& path, First& first, Rest&... rest) {
  using type = std::remove_const_t<First>;
  constexpr nest_kind kind = nest_kind_of<type>();
  if constexpr (FrozenNest<type> || (... || FrozenNest<std::remove_const_t<Rest>>)) {
    if constexpr (are_visited<Frozen, type, std::remove_const_t<Rest>...>)
      if (!(is_absent(first) || ... || is_absent(rest)))
        walk_together<Frozen>(f, path, within(first), within(rest)...);
  } else if constexpr (kind == nest_kind::tensor) {
    f(path, first, rest...);
  } else if constexpr (kind == nest_kind::range) {
    const auto as_many = [&](std::size_t size) {
      if (size != first.size())
        fail({.rule = violation::operand_count_differs,
              .have = static_cast<index_t>(size),
              .want = static_cast<index_t>(first.size())},
             "nests that meet have as many tensors in each range");
    };
    (as_many(rest.size()), ...);
    for (std::size_t i = 0; i < first.size(); ++i)
      walk_together<Frozen>(f, step_down(path, i), first[i], rest[i]...);
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    const auto walk = [&]<std::size_t... I>(std::index_sequence<I...>, const auto& parts,
                                            const auto&... others) {
      const auto walk_part = [&](std::size_t i, auto&... part) {
        if constexpr (kind == nest_kind::aggregate && !std::is_same_v<Path, no_path>)
          walk_together<Frozen>(f, member_path<type>(path, i), part...);
        else
          walk_together<Frozen>(f, step_down(path, i), part...);
      };
      [[maybe_unused]] const auto at = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        walk_part(K, nth<K>(parts), nth<K>(others)...);
      };
      (at(std::integral_constant<std::size_t, I>{}), ...);
    };
    const auto parts = list_parts(first);
    walk(std::make_index_sequence<decltype(parts)::size>{}, parts, list_parts(rest)...);
  }
}

/// Calls a function of a path and the corresponding tensors of several nests, which it may assign
/// to. With the compiled library, the function gets tensors with values without their layouts, so
/// it is compiled once for the element types of all parameters, which have hundreds of types.
template <class F>
struct of_any_layouts {
  const F& f;

  template <class Path, class... X>
  constexpr void operator()(const Path& path, X&... x) const {
    if constexpr (build_config::compiled && (... && is_sharded_tensor<std::remove_const_t<X>>))
      call(path, x...);
    else
      f(path, x...);
  }

 private:
  template <class Path, class... X>
  void call(const Path& path, X&... x) const {
    const auto with = [&](auto... same) {
      f(path, same...);
      (give_back(x, std::move(same)), ...);
    };
    with(any_tensor<typename X::value_type>(x)...);
  }
  template <class X>
  static void give_back(X& x, any_tensor<typename X::value_type>&& changed) {
    x = handle_of<X>(std::move(changed).release());
  }
  template <class X>
  static void give_back(const X&, any_tensor<typename X::value_type>&&) noexcept {}
};

/// Calls `update` with the path and the corresponding tensors of several nests of the same
/// structure.
template <class Update, class First, class... Rest>
constexpr void update_together(const Update& update, First& first, Rest&... rest) {
  walk_together(of_any_layouts<Update>{update}, leaf_path{}, first, rest...);
}
/// The same without the path.
template <class Update, class First, class... Rest>
constexpr void update_each(const Update& update, First& first, Rest&... rest) {
  const auto nameless = [&](no_path, auto&... x) { update(x...); };
  walk_together(of_any_layouts<decltype(nameless)>{nameless}, no_path{}, first, rest...);
}
/// Calls `f` with the corresponding tensors of several nests of the same structure, with their
/// types.
template <class F, class First, class... Rest>
constexpr void for_each_together(const F& f, First& first, Rest&... rest) {
  const auto nameless = [&](no_path, auto&... x) { f(x...); };
  walk_together(nameless, no_path{}, first, rest...);
}

/// Assigns a value of the same elements, extents and layout to a tensor.
template <class X, class Value>
constexpr void put(X& x, Value&& value) {
  if constexpr (ValueOperand<X>)
    x = std::forward<Value>(value);
  else if constexpr (std::is_base_of_v<tensor_handle, X>)
    x = handle_of<X>(sharded_tensor(std::forward<Value>(value)).share());
  else
    x = X{std::forward<Value>(value)};
}

/// Converts a number to the type used for arithmetic on tensors of type `X`.
template <class X>
[[nodiscard]] constexpr auto number_for(double value) noexcept {
  return static_cast<compute_type<typename X::value_type>>(value);
}

}  // namespace internal

/// Calls `f(name, x, y)`, or `f(x, y)`, for every tensor of a nest and the corresponding one of
/// another nest of the same structure, such as a model and its average, whose elements and layouts
/// may differ. A part that one of them leaves out, such as a frozen part of a gradient, is skipped.
///
///     for_each_parameter(model, gradients, [](const leaf_path& name, auto& w, const auto& g) {
///       w -= g * 0.1F;
///     });
template <class First, class Second, class F>
  requires(!std::convertible_to<const Second&, text_view>)
constexpr void for_each_parameter(First& first, Second& second, const F& f) {
  constexpr auto frozen = internal::frozen_parts::hold_tensors;
  using judged =
      decltype(internal::judge_together<frozen, internal::any_tensors, std::remove_const_t<First>,
                                        std::remove_const_t<Second>>());
  if constexpr (internal::is_judged_well<judged>())
    internal::walk_together<frozen>(
        [&](const auto& path, auto&... x) { internal::call_with_leaves(f, path, x...); },
        leaf_path{}, first, second);
}
/// The same for three nests, such as a model, moments, and gradients.
template <class First, class Second, class Third, class F>
constexpr void for_each_parameter(First& first, Second& second, Third& third, const F& f) {
  constexpr auto frozen = internal::frozen_parts::hold_tensors;
  using judged = typename internal::first_refusal<
      decltype(internal::judge_together<frozen, internal::any_tensors, std::remove_const_t<First>,
                                        std::remove_const_t<Second>>()),
      decltype(internal::judge_together<frozen, internal::any_tensors, std::remove_const_t<First>,
                                        std::remove_const_t<Third>>())>::type;
  if constexpr (internal::is_judged_well<judged>())
    internal::walk_together<frozen>(
        [&](const auto& path, auto&... x) { internal::call_with_leaves(f, path, x...); },
        leaf_path{}, first, second, third);
}

}  // namespace shardwise
