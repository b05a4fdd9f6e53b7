// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/operation/sum_of_squares.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/optim/nests.hpp"

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// The element type of the norm of a nest: `double` if it has a tensor of these, else `float`.
template <class Nest>
using norm_element = std::conditional_t<has_element<Nest, element::f64>, double, float>;

/// Returns `of(tensor)`, a sum over the tensor, in elements `T`.
template <class T, class X, class Of>
[[nodiscard]] constexpr auto sum_in(const X& x, const Of& of) {
  return narrowed<T>(of(x));
}
template <class T, class X, class Of>
using sum_over =
    decltype(made_tensor(sum_in<T>(std::declval<const X&>(), std::declval<const Of&>())));

template <class... Sums>
struct sum_types {};
/// Adds the types of the sums over the tensors of a nest to `Found`, each once.
template <class T, class Nest, class Of, class... Found>
[[nodiscard]] constexpr auto types_of_sums(sum_types<Found...> found) noexcept {
  constexpr nest_kind kind = nest_kind_of<Nest>();
  if constexpr (kind == nest_kind::tensor) {
    using made = sum_over<T, Nest, Of>;
    if constexpr ((... || std::is_same_v<made, Found>))
      return found;
    else
      return sum_types<Found..., made>{};
  } else if constexpr (kind == nest_kind::range) {
    return types_of_sums<T, typename Nest::value_type, Of>(found);
  } else if constexpr (kind == nest_kind::tuple || kind == nest_kind::aggregate) {
    using parts = decltype(list_parts(std::declval<const Nest&>()));
    const auto add_from = [&]<std::size_t I>(const auto& self, auto so_far,
                                             std::integral_constant<std::size_t, I>) {
      if constexpr (I == parts::size)
        return so_far;
      else
        return self(self, types_of_sums<T, nth_type<I, parts>, Of>(so_far),
                    std::integral_constant<std::size_t, I + 1>{});
    };
    return add_from(add_from, found, std::integral_constant<std::size_t, 0>{});
  } else {
    return found;
  }
}

/// Adds a sum to that of its group, or begins a group.
template <class Sum>
constexpr void add_to_group(std::optional<Sum>& group, std::type_identity_t<Sum>&& more) {
  if (group)
    *group += std::move(more);
  else
    group.emplace(std::move(more));
}

/// Returns the sum of the sums `of(tensor)` over an abstract nest, whose types state which sums are
/// pending over the same axes: these are reduced together.
template <class T, class Nest, class Of>
[[nodiscard]] constexpr auto reduced_sum_by_types(const Nest& nest, const Of& of) {
  const auto add = [&]<class First, class... Rest>(sum_types<First, Rest...>) {
    std::tuple<std::optional<First>, std::optional<Rest>...> groups;
    const auto take = [&]<class X>(const X& x) {
      using made = sum_over<T, X, Of>;
      add_to_group(std::get<std::optional<made>>(groups), made(sum_in<T>(x, of)));
    };
    for_each_tensor(nest, take);
    if (!(std::get<std::optional<First>>(groups) && ... && std::get<std::optional<Rest>>(groups)))
      refuse_empty_range();
    auto total = made_tensor(reshard<P<>>(*std::get<std::optional<First>>(groups)));
    ((total += reshard<P<>>(*std::get<std::optional<Rest>>(groups))), ...);
    return total;
  };
  return add(types_of_sums<T, Nest, Of>(sum_types<>{}));
}
/// The same for tensors with values: the layout of each sum is known at run time, and the compiler
/// sees a single type for them.
template <class T, class Nest, class Of>
[[nodiscard]] any_tensor<T> reduced_sum_by_layouts(const Nest& nest, const Of& of) {
  std::vector<std::optional<any_tensor<T>>> groups;
  const auto add = [&](any_tensor<T> more) {
    for (std::optional<any_tensor<T>>& group : groups)
      if (group->layout() == more.layout()) return add_to_group(group, std::move(more));
    groups.emplace_back(std::move(more));
  };
  const auto take = [&]<class X>(const X& x) {
    add(sum_in<T>(any_tensor<typename X::value_type>(x), of));
  };
  for_each_tensor(nest, take);
  if (groups.empty()) refuse_empty_range();
  any_tensor<T> total = reshard<P<>>(*groups[0]);
  for (std::size_t g = 1; g < groups.size(); ++g) total += reshard<P<>>(*groups[g]);
  return total;
}
/// True for a nest with a tensor that is pending by its type.
template <class Nest>
inline constexpr bool holds_pending = any_in_nest<Nest>([]<class X>(std::type_identity<X>) {
  if constexpr (Operand<X>)
    return !is_legal<pointwise<functions::square>, paper_of<X>>;
  else
    return false;
});

/// True for a nest with a tensor whose layout is a value.
template <class Nest>
inline constexpr bool holds_values = any_in_nest<Nest>([]<class X>(std::type_identity<X>) {
  return ValueOperand<X>;
});

/// Returns the sum of the sums `of(tensor)` over a nest in elements `T`, reduced and replicated.
template <class T, class Nest, class Of>
[[nodiscard]] constexpr auto reduced_sum(const Nest& nest, const Of& of) {
  using first = std::remove_cvref_t<decltype(first_in(nest))>;
  if constexpr (holds_values<Nest>) {
    return reduced_sum_by_layouts<T>(nest, of);
  } else if constexpr (build_config::compiled && is_sharded_tensor<first>) {
    return handle_of<scalar<T, mesh_of<first>>>(reduced_sum_by_layouts<T>(nest, of).release());
  } else {
    return reduced_sum_by_types<T>(nest, of);
  }
}

}  // namespace detail

namespace optim {

/// Returns the square root of the sum of the squares of all elements of a nest, replicated. For
/// split tensors each device adds up the elements that it holds; one number is reduced for each set
/// of axes that splits a tensor. Squares are added as `double`, whose range holds those of all
/// `float` elements. The norm is a `float`, or a `double` if the nest has tensors of `double`.
///
///     auto size = optim::global_norm(gradients);
template <class Nest>
[[nodiscard]] constexpr auto global_norm(const Nest& nest) {
  if constexpr (internal::holds_refusal<Nest>) {
    return refused_value{};
  } else if constexpr (detail::holds_pending<Nest>) {
    return detail::refuse_gradients<
        std::conditional_t<detail::holds_pending<Nest>, pointwise<functions::square>, Nest>>();
  } else {
    const auto squares = [](const auto& x) { return internal::sum_of_squares(x); };
    using T = detail::norm_element<Nest>;
    return internal::made_tensor(
        internal::narrowed<T>(sqrt(detail::reduced_sum<squares_type<T>>(nest, squares))));
  }
}

/// Multiplies all tensors of a nest by one number, so that its `global_norm` is at most `most`, and
/// returns the previous norm. Throws `number_is_out_of_range` if `most` is negative or NaN.
///
///     auto size = optim::clip_by_global_norm(gradients, 1.0);
template <class Nest>
constexpr auto clip_by_global_norm(Nest& gradients, double most) {
  internal::require_within(most >= 0, "the norm to which gradients are clipped is not negative");
  auto norm = global_norm(gradients);
  if constexpr (!AnyRefused<decltype(norm)>) {
    using X = decltype(norm);
    const auto factor =
        minimum(internal::number_for<X>(most) / (norm + internal::number_for<X>(1e-6)),
                internal::number_for<X>(1));
    const auto factors =
        detail::number_beside_nest<Nest, detail::combined_in::wide_elements>(factor);
    const auto scale = [&]<class G>(G& gradient) {
      using T = typename G::value_type;
      if constexpr (std::is_same_v<compute_type<T>, T>)
        gradient *= factors.template beside<G>();
      else
        internal::put(gradient,
                      cast<T>(internal::widened(gradient) * factors.template beside<G>()));
    };
    internal::update_each(scale, gradients);
  }
  return norm;
}

}  // namespace optim

}  // namespace shardwise
