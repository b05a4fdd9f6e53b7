// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/reshard.hpp"
#include "shardwise/plan/constraint.hpp"

namespace shardwise {

/// The operation `clear_sharding`, as errors name it.
struct clearing;

/// `Operand` gets the layout that is promised only by `Collective` over `Axes`.
template <fixed_string Collective, fixed_string Axes, class Operand, fixed_string Mend>
struct constraint_needs_communication {
  static_assert(respected<constraint_needs_communication>,
                "a constraint is met without communication; only a reshard moves data");
};

/// `Operand` is split or pending over `Axis`, and marked otherwise.
template <fixed_string Axis, class Operand, fixed_string Mend>
struct tensor_is_marked_already {
  static_assert(respected<tensor_is_marked_already>,
                "only a replicated tensor is marked anew; clear_sharding makes it one");
};

namespace detail {

/// The call that a promise is refused for, as compilers print it.
template <class Mesh, class To>
struct call_instead {
  static constexpr sentence words = promised_call(Mesh::value, To::value, "");
  static constexpr auto value = to_fixed_string<words.size()>(words);
};

/// Judges `constrain<Target, Policy>`.
template <class X, class Target, class Policy>
[[nodiscard]] constexpr auto judge_constraint() noexcept {
  using from = typename std::remove_cvref_t<X>::layout_type;
  using to = resharded_layout<X, Target, Policy>;
  using moved = reshard_judge<from, to, typename std::remove_cvref_t<X>::extents_type>;
  if constexpr (!moved::ok) {
    return moved{};
  } else {
    constexpr transfer needed = first_communication(mesh_of<X>::value, from::value, to::value);
    if constexpr (needed.axes.empty()) {
      return legal{};
    } else {
      constexpr text_view kind = to_text(needed.kind);
      return refused<constraint_needs_communication<
          to_fixed_string<kind.size()>(kind), entry_of_axes<mesh_of<X>, pack(needed.axes)>::value,
          operand<0>, call_instead<mesh_of<X>, to>::value>>{};
    }
  }
}

/// Judges `mark_sharding<Target, Policy>`.
template <class X, class Target, class Policy>
[[nodiscard]] constexpr auto judge_marking() noexcept {
  using from = typename std::remove_cvref_t<X>::layout_type;
  using to = resharded_layout<X, Target, Policy>;
  using moved = reshard_judge<from, to, typename std::remove_cvref_t<X>::extents_type>;
  if constexpr (!moved::ok) {
    return moved{};
  } else {
    constexpr diagnosis verdict = check_marking(mesh_of<X>::value, from::value, to::value);
    if constexpr (verdict.ok())
      return legal{};
    else
      return refused<tensor_is_marked_already<to_fixed_string<verdict.axis.size()>(verdict.axis),
                                              operand<0>, call_instead<mesh_of<X>, to>::value>>{};
  }
}

/// Gives a tensor the layout that was found to cost nothing. A temporary that has it stays what it
/// is, so that an expression still fuses.
template <class Target, class Policy, class X>
[[nodiscard]] constexpr auto promised(X&& x) {
  using value = std::remove_cvref_t<X>;
  if constexpr (!std::is_lvalue_reference_v<X> &&
                std::is_same_v<typename value::layout_type, resharded_layout<X, Target, Policy>>)
    return value(static_cast<X&&>(x));
  else
    return reshard<Target, Policy>(static_cast<X&&>(x));
}

}  // namespace detail

/// The same tensor under exactly this layout, which it has already or gets by local slices: a
/// promise for the middle of a program, which never moves data. Where it would take a collective
/// the program does not compile, and the error names the collective and the `reshard` to write.
///
/// `Target` and `Policy` are those of `reshard`. Over a dyn axis everything but a slice counts as
/// communication.
///
///     auto h = constrain<P<"data", "model">>(einsum<"bi,ih->bh">(x, w1));
template <class Target, class Policy = void, Operand X>
[[nodiscard]] constexpr decltype(auto) constrain(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using judged = decltype(detail::judge_constraint<X, Target, Policy>());
    if constexpr (judged::ok) {
      return detail::promised<Target, Policy>(static_cast<X&&>(x));
    } else {
      return detail::given<judged>::value();
    }
  }
}

/// A replicated tensor, spread: every device keeps its part, and the result has a type of its own;
/// `x` stays as it is. What is split or pending may be marked as it is already, and not otherwise:
/// `clear_sharding` or `reshard` come first.
///
/// Host data is marked where it is uploaded: `distribute<X>`.
///
///     auto rows = mark_sharding<P<"data", none>>(whole);
template <class Target, class Policy = void, Operand X>
[[nodiscard]] constexpr decltype(auto) mark_sharding(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using judged = decltype(detail::judge_marking<X, Target, Policy>());
    if constexpr (judged::ok) {
      return detail::promised<Target, Policy>(static_cast<X&&>(x));
    } else {
      return detail::given<judged>::value();
    }
  }
}

/// The same tensor with all of it on every device, so that it may be marked anew: a `reshard` by
/// another name, with its collectives in the ledger. A pending reduction is finished first, by a
/// `reshard` that says so.
///
///     auto columns = mark_sharding<P<none, "model">>(clear_sharding(rows));
template <Operand X>
[[nodiscard]] constexpr decltype(auto) clear_sharding(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using from = typename std::remove_cvref_t<X>::layout_type;
    using to = layout_from_key<mesh_of<X>, pack(cleared(from::value))>;
    if constexpr (from::value.pending == 0) {
      return reshard<to>(static_cast<X&&>(x));
    } else {
      constexpr name axis = detail::first_axis(mesh_of<X>::value, from::value.pending);
      return detail::given<
          refused<partial_value_is_read<clearing, operand<0>, to_fixed_string<axis.size()>(axis),
                                        detail::call_instead<mesh_of<X>, to>::value>>>::value();
    }
  }
}

/// `x` under the layout of `like`, pending reductions and policy included: the `reshard` for two
/// values that are to be sharded alike, whatever the layout is. Both live on one mesh and have one
/// rank; equal layouts cost nothing.
///
///     auto momentum = shard_as(gradient, weights);
template <Operand X, Operand Like>
[[nodiscard]] constexpr decltype(auto) shard_as(X&& x, const Like& like) {
  if constexpr (AnyRefused<X, Like>) {
    return refused_value{};
  } else {
    if constexpr (std::is_same_v<mesh_of<X>, mesh_of<Like>> && mesh_of<X>::dynamic_axes > 0)
      if (x.mesh() != like.mesh()) fail({.rule = broken::operand_meshes_differ, .operand = 1});
    return reshard<typename Like::layout_type>(static_cast<X&&>(x));
  }
}

}  // namespace shardwise
