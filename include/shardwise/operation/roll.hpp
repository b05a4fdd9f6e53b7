// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/between_devices.hpp"
#include "shardwise/operation/concatenate.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/operation/ring_roll.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/rule/gradient_step.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardwise {

/// The operation that moves elements cyclically along a dimension. Its integers are the dimension
/// and the number of positions.
struct roll_operation : of_any_elements {
  static constexpr text_view name = "roll";
  static constexpr dims_among names{.count = 1};
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr attributes how(int dim, index_t places) noexcept {
    return integer_attributes(dim, places);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::structural, operands[0].rank());
    const index_t size = operands[0].extents[how.integers[0]], places = how.integers[1];
    if (places != 0 && (size <= 0 || places % size != 0))
      out.factors[how.integers[0]] = factor_kind::permutation;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return words_of(name, how);
  }
  using emits = emitted_operations<roll_operation>;
  static constexpr void gradient(gradient_step& at) {
    const auto dim = static_cast<int>(at.how().integers[0]);
    const index_t size = at.operand(0).tensor().extents[dim], places = at.how().integers[1];
    // The lowest number of places has no negative.
    const index_t forward = size > 0 ? places % size : std::max(places, -INT64_MAX);
    at.give(0, emit<roll_operation>(how(dim, -forward), at.cotangent()));
  }
};

/// The operation whose attributes are types.
template <int Dim, index_t Places>
struct roll_of {
  using operation_class = roll_operation;
  static constexpr attributes how = roll_operation::how(Dim, Places);
};

namespace detail {

/// The call of a roll.
template <int Dim, index_t Places>
struct roll_call {
  using operation = roll_of<Dim, Places>;

  [[nodiscard]] static constexpr ring_roll plan(const mesh_desc& mesh, const tensor_desc& x,
                                                unsigned permitted) noexcept {
    return ring_roll::of(mesh, x, counted_from_front(Dim, x.rank()), Places, permitted);
  }
  template <class Plan, class Permitted, class X>
  [[nodiscard]] static constexpr auto on_types(X&& x) {
    using layout = typename std::remove_cvref_t<X>::layout_type;
    if constexpr (Plan::value.moves_shards()) {
      return disable_manual_sharding<layout>(
          piece<Plan, 0>(enable_manual_sharding(static_cast<X&&>(x))));
    } else {
      const auto mine = enable_manual_sharding(static_cast<X&&>(x));
      auto first = piece<Plan, 0>(mine);
      auto second = piece<Plan, 1>(mine);
      return disable_manual_sharding<layout>(concatenate<Dim>(
          static_cast<decltype(first)&&>(first), static_cast<decltype(second)&&>(second)));
    }
  }
  template <class X>
  [[nodiscard]] static X on_values(const X& x, const ring_roll& plan) {
    using domain = typename X::value_domain;
    using T = typename X::value_type;
    const int dim = counted_from_front(Dim, x.tensor().rank());
    X mine = value_steps::enter(x);
    const auto moved = [&](const ring_roll::piece& chosen, X part) {
      return chosen.by == 0 ? part : value_steps::call(plan.move_of(chosen), std::move(part));
    };
    const auto piece = [&](const ring_roll::piece& chosen) {
      const attributes how = slice_operation::how(dim, chosen.begin, chosen.end, 1);
      return moved(chosen, domain::template apply_with<slice_operation, T>(how, mine));
    };
    if (plan.moves_shards())
      return value_steps::leave(moved(plan.pieces[0], std::move(mine)), x.tensor().layout);
    X first = piece(plan.pieces[0]);
    X second = piece(plan.pieces[1]);
    return value_steps::leave(
        domain::template apply_with<concatenate_operation, T>(concatenate_operation::how(dim),
                                                              std::move(first), std::move(second)),
        x.tensor().layout);
  }

 private:
  template <class Plan, std::size_t I, class Mine>
  [[nodiscard]] static constexpr auto piece(Mine&& mine) {
    constexpr ring_roll::piece moved = Plan::value.pieces[I];
    constexpr auto axes = entry_of_axes<mesh_of<Mine>, pack(Plan::value.axes)>::value;
    const auto part = [&]() -> decltype(auto) {
      if constexpr (Plan::value.moves_shards())
        return static_cast<Mine&&>(mine);
      else
        return slice_in_dim<Dim, moved.begin, moved.end>(mine);
    };
    if constexpr (moved.by == 0)
      return part();
    else
      return shift<axes, moved.by>(part());
  }
};

}  // namespace detail

/// Moves elements by `Places` positions along a dimension, backwards if it is negative; elements
/// beyond one end re-enter at the other. The dimension must not be split, unless it is moved by
/// whole turns. Pending reductions stay pending.
///
/// If axes are permitted that split the dimension evenly, it stays split, and each device sends
/// other devices those elements of its shard that they need: a `collective_permute` for the
/// elements that go to one device, at most two. Otherwise it is gathered over permitted axes.
///
///     auto y = roll<1, 2>(x);                       // 1 2 3 4 becomes 3 4 1 2
///     auto z = roll<0, 1>(grid, across<"rows">);    // each device receives one row
template <int Dim, index_t Places, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(!detail::may_run_between_devices<detail::roll_call<Dim, Places>, X, Given>)
[[nodiscard]] constexpr auto roll(X&& x, Given permitted = {})
    -> decltype(apply_operation<roll_of<Dim, Places>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<roll_of<Dim, Places>>(permitted, static_cast<X&&>(x));
}
template <int Dim, index_t Places, NamedOperand X, internal::Terms Given = across_axes<>>
  requires detail::may_run_between_devices<detail::roll_call<Dim, Places>, X, Given>
[[nodiscard]] constexpr auto roll(X&& x, Given permitted = {}) {
  return detail::run_between_devices<detail::roll_call<Dim, Places>>(static_cast<X&&>(x),
                                                                     permitted);
}

}  // namespace shardwise
