// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/error.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/nest.hpp"
#include "shardwise/expression/nest.hpp"
#include "shardwise/host/factories.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/optim/groups.hpp"
#include "shardwise/plan/gradient.hpp"
#include "shardwise/runtime/any_operations.hpp"
#include "shardwise/tensor/any_tensor.hpp"
#include "shardwise/tensor/sharded_tensor.hpp"

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise::optim {

/// Any argument of an optimizer, so that errors about gradients do not print its type.
struct unlike {
  template <class X>
  constexpr unlike(const X&) noexcept {}
};

}  // namespace shardwise::optim

namespace shardwise::detail {

/// Reports gradients that `User`, an optimizer or a function, rejects: they are pending, or those
/// of another nest. Those of an invalid loss have been reported.
template <class User, bool AreReported = false>
constexpr refused_value refuse_gradients() {
  using verdict =
      std::conditional_t<AreReported, refused<>, refused<misuse::gradients_differ, types<User>>>;
  using reported [[maybe_unused]] = decltype(typename verdict::type{});
  return {};
}

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

/// Returns the tensor of an expression.
template <class X>
[[nodiscard]] constexpr auto made_tensor(X&& x) {
  using plain = std::remove_cvref_t<X>;
  if constexpr (ValueOperand<plain>)
    return typename plain::value_domain::template tensor<typename plain::value_type>(
        std::forward<X>(x));
  else
    return typename plain::domain::template tensor<
        typename plain::value_type, typename plain::extents_type, typename plain::layout_type>{
        std::forward<X>(x)};
}

/// The elements in which a tensor is combined with numbers: its own, or those of its arithmetic.
enum class combined_in : bool { own_elements, wide_elements };
template <class X, combined_in In>
[[nodiscard]] constexpr element combined_element() noexcept {
  constexpr element own = element_of<typename X::value_type>;
  return In == combined_in::wide_elements ? computed_in(own) : own;
}
/// True for a nest with a tensor that is combined in elements of a type.
template <class Nest, element Type, combined_in In = combined_in::own_elements>
inline constexpr bool has_element = any_in_nest<Nest>([]<class X>(std::type_identity<X>) {
  if constexpr (EitherOperand<X>)
    return combined_element<X, In>() == Type;
  else
    return false;
});

/// Replaces a number that no tensor needs.
struct unconverted {};
/// A number of a step, such as a rate, beside the tensors of a nest: a tensor is converted once to
/// each floating-point element type that they are combined in and that it has not.
template <combined_in In, class Number, class... Converted>
struct number_of_step {
  const Number& given;
  std::tuple<Converted...> converted;  // in the order of `element`

  /// Returns the number beside tensors of type `X`.
  template <class X>
  [[nodiscard]] constexpr auto beside() const {
    constexpr element type = combined_element<X, In>();
    constexpr auto place = static_cast<std::size_t>(type);
    if constexpr (EitherOperand<std::tuple_element_t<place, std::tuple<Converted...>>>)
      return std::get<place>(converted);
    else if constexpr (Scalar<Number> && has_fractions(type))
      return static_cast<type_of_element<computed_in(type)>>(given);
    else
      return given;
  }
};
/// True for a tensor that tensors of a nest need in elements of another type.
template <class Number, class Nest, element Type, combined_in In>
[[nodiscard]] constexpr bool is_converted() noexcept {
  if constexpr (EitherOperand<Number> && has_fractions(Type))
    return has_element<Nest, Type, In> && element_of<typename Number::value_type> != Type;
  else
    return false;
}
template <class Nest, combined_in In = combined_in::own_elements, class Number>
[[nodiscard]] constexpr auto number_beside_nest(const Number& number) {
  const auto convert = [&]<int I>(std::integral_constant<int, I>) {
    if constexpr (is_converted<Number, Nest, element{I}, In>())
      return made_tensor(cast<type_of_element<element{I}>>(number));
    else
      return unconverted{};
  };
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return number_of_step<In, Number, decltype(convert(std::integral_constant<int, I>{}))...>{
        number, {convert(std::integral_constant<int, I>{})...}};
  }
  (std::make_integer_sequence<int, element_types>{});
}

/// The type of a scalar of `float` in the mesh of a nest.
template <class Nest>
struct step_count {
  using first = std::remove_cvref_t<decltype(first_in(std::declval<const Nest&>()))>;
  using type = typename number_beside<float, first>::type;
};
/// Returns such a scalar in the pool of a nest.
template <class Number, class Nest>
[[nodiscard]] Number number_in_pool_of(const Nest& nest, float value) {
  const auto fill = [=](const held_box&, const strided<float>& block) {
    fill_elements(value, block);
  };
  return handle_of<Number>(
      make_filled<float>(first_in(nest).share()->home(), {element::f32, {}, {}}, fill));
}

/// Converts a number to the type used for arithmetic on tensors of type `X`.
template <class X>
[[nodiscard]] constexpr auto number_for(double value) noexcept {
  return static_cast<compute_type<typename X::value_type>>(value);
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
