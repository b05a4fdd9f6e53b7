// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/error.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/optim/groups.hpp"
#include "shardwise/optim/refusals.hpp"
#include "shardwise/optim/step_number.hpp"
#include "shardwise/plan/gradient.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/tensor/any_tensor.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// Replaces the path of a tensor if it is not needed.
struct no_path {};
[[nodiscard]] constexpr no_path step_down(no_path, const auto&) noexcept { return {}; }

/// Calls `f` with the path of each tensor and the corresponding tensors of several nests of the
/// same structure.
template <class Path, class F, class First, class... Rest>
constexpr void walk_together(const F& f, const Path& path, First& first, Rest&... rest) {
  using type = std::remove_const_t<First>;
  constexpr nest_kind kind = nest_kind_of<type>();
  if constexpr (kind == nest_kind::tensor) {
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
      walk_together(f, step_down(path, i), first[i], rest[i]...);
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    const auto walk = [&]<std::size_t... I>(std::index_sequence<I...>, const auto& parts,
                                            const auto&... others) {
      const auto walk_part = [&](std::size_t i, auto&... part) {
        if constexpr (kind == nest_kind::aggregate && !std::is_same_v<Path, no_path>)
          walk_together(f, member_path<type>(path, i), part...);
        else
          walk_together(f, step_down(path, i), part...);
      };
      const auto at = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
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

/// Returns how an optimizer treats the parameter with this path.
template <class X>
[[nodiscard]] constexpr optim::treatment treated(optim::treatment_rule rule, const leaf_path& path,
                                                 const X& parameter) {
  if constexpr (ValueOperand<X>)
    return rule(text_view(path), parameter.tensor().rank());
  else
    return rule(text_view(path), X::extents_type::rank);
}
/// Calls `update` with the treatment of each parameter that is trained, the parameter and the
/// corresponding tensors of other nests.
template <class Update, class Parameters, class... Rest>
constexpr void update_trained(optim::treatment_rule rule, const Update& update,
                              Parameters& parameters, Rest&... rest) {
  const auto of_one = [&](const leaf_path& path, auto& w, auto&... others) {
    const optim::treatment how = treated(rule, path, w);
    if (how.rate != 0) update(how, w, others...);
  };
  update_together(of_one, parameters, rest...);
}
/// Subtracts a direction, times the rate and a factor, from a parameter.
template <class X, class Direction, class Rate>
constexpr void descend(X& w, Direction&& direction, const Rate& rate, double factor) {
  if (factor == 1)
    w -= std::forward<Direction>(direction) * rate;
  else
    w -= std::forward<Direction>(direction) * rate * number_for<X>(factor);
}

}  // namespace shardwise::detail
