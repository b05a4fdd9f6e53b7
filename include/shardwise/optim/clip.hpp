// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/fold.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/optim/nests.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace shardwise {

namespace detail {

/// The sum of tensors of one type among those of a tuple from `First` on, in order. What is done
/// with each is compiled for its type, not for its place.
template <class Wanted, std::size_t First, class Tuple>
[[nodiscard]] constexpr Wanted sum_of_type(const Tuple& all, Wanted sum) {
  std::size_t place = 0;
  const auto take = [&]<class X>(const X& x) {
    if constexpr (std::is_same_v<X, Wanted>)
      if (place >= First) sum += x;
    ++place;
  };
  std::apply([&](const auto&... x) { (take(x), ...); }, all);
  return sum;
}
template <class X, std::size_t I, class Tuple>
[[nodiscard]] constexpr bool is_met_before() noexcept {
  bool met = false;
  for_each_index<I>(
      [&]<std::size_t J>() { met = met || std::is_same_v<X, std::tuple_element_t<J, Tuple>>; });
  return met;
}
/// A sum of numbers that are pending over several axes each: those that are pending over the same
/// ones are reduced together.
template <std::size_t I, class Tuple>
[[nodiscard]] constexpr auto reduced_sum(const Tuple& all) {
  using each = std::tuple_element_t<I, Tuple>;
  auto own = reshard<P<>>(sum_of_type<each, I + 1>(all, std::get<I>(all)));
  constexpr std::size_t next = [] {
    std::size_t found = std::tuple_size_v<Tuple>;
    for_each_index<std::tuple_size_v<Tuple>>([&]<std::size_t J>() {
      if (J > I && found == std::tuple_size_v<Tuple> &&
          !is_met_before<std::tuple_element_t<J, Tuple>, J, Tuple>())
        found = J;
    });
    return found;
  }();
  if constexpr (next == std::tuple_size_v<Tuple>)
    return own;
  else
    return own + reduced_sum<next>(all);
}

/// Returns the sum of `of(tensor)` for each tensor of a nest, in a tuple; those of a range, which
/// is not empty, are added up.
template <class Nest, class Of>
[[nodiscard]] constexpr auto sums_over(const Nest& nest, const Of& of) {
  constexpr nest_kind kind = nest_kind_of<Nest>();
  const auto each = [&](const auto&... members) {
    return std::tuple_cat(sums_over(members, of)...);
  };
  if constexpr (kind == nest_kind::tensor) {
    auto made = made_tensor(sum(of(nest)));
    return std::tuple<decltype(made)>{std::move(made)};
  } else if constexpr (kind == nest_kind::tuple) {
    return std::apply(each, nest);
  } else if constexpr (kind == nest_kind::range) {
    if (nest.size() == 0)
      fail({.rule = violation::operand_count_differs},
           "a range of tensors is empty and has no norm");
    auto total = sums_over(*nest.begin(), of);
    for (std::size_t i = 1; i < nest.size(); ++i) {
      const auto more = sums_over(nest[i], of);
      const auto add = [](auto& x, const auto& y) { x += y; };
      for_each_together(add, total, more);
    }
    return total;
  } else if constexpr (kind == nest_kind::aggregate) {
    return std::apply(each, members_of(nest));
  } else {
    return std::tuple<>{};
  }
}

}  // namespace detail

namespace optim {

/// The root of the sum of the squares of all elements of a nest, on every device. Of split tensors
/// each device adds up what it has; one number moves for each set of axes that splits any of them.
/// Narrow elements are squared and added as `float`.
///
///     auto size = optim::global_norm(gradients);
template <class Nest>
[[nodiscard]] constexpr auto global_norm(const Nest& nest) {
  const auto squares = [](const auto& x) { return square(detail::widened(x)); };
  return sqrt(detail::reduced_sum<0>(detail::sums_over(nest, squares)));
}

/// Multiplies all tensors of a nest by one number, so that its `global_norm` is at most `most`, and
/// returns what that was before.
///
///     auto size = optim::clip_by_global_norm(gradients, 1.0);
template <class Nest>
constexpr auto clip_by_global_norm(Nest& gradients, double most) {
  auto norm = global_norm(gradients);
  using X = decltype(norm);
  const auto factor = minimum(detail::number_for<X>(most) / (norm + detail::number_for<X>(1e-6)),
                              detail::number_for<X>(1));
  const auto scale = [&](auto& gradient) {
    using T = typename std::remove_cvref_t<decltype(gradient)>::value_type;
    if constexpr (std::is_same_v<T, typename X::value_type>)
      gradient *= factor;
    else
      detail::put(gradient, cast<T>(detail::widened(gradient) * factor));
  };
  detail::for_each_together(scale, gradients);
  return norm;
}

}  // namespace optim

}  // namespace shardwise
