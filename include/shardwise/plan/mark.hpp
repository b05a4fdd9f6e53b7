// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/reshard.hpp"
#include "shardwise/plan/constraint.hpp"

namespace shardwise {

/// The name of `clear_sharding` in errors.
struct clearing;

namespace internal {

/// The invalid call of a constraint, as compilers print it.
template <class Mesh, class To>
struct call_instead {
  static constexpr message_text words = promised_call(Mesh::value, To::value, "");
  static constexpr suggested value{to_fixed_string<words.size()>(words)};
};

/// The rule of `constrain`, for an `X` that can be resharded to the layout.
struct constraining {
  [[nodiscard]] static constexpr diagnosis check(const mesh_desc& mesh, const tensor_desc& tensor,
                                                 const layout_desc& to) noexcept {
    return check_constraint(mesh, tensor, to);
  }
  template <class X, class To>
  [[nodiscard]] static constexpr auto judge() noexcept {
    constexpr planned_transfer needed = first_communication(
        mesh_of<X>::value, X::extents_type::value, X::layout_type::value, To::value);
    if constexpr (needed.axes.empty()) {
      return allowed<>{};
    } else {
      constexpr text_view kind = to_text(needed.kind);
      return refused<violation::constraint_needs_communication, of_types<>,
                     called(to_fixed_string<kind.size()>(kind)),
                     called(entry_of_axes<mesh_of<X>, pack(needed.axes)>::value), operand_at{0},
                     call_instead<mesh_of<X>, To>::value>{};
    }
  }
};

/// The rule of `mark_sharding`.
struct marking {
  [[nodiscard]] static constexpr diagnosis check(const mesh_desc& mesh, const tensor_desc& tensor,
                                                 const layout_desc& to) noexcept {
    const diagnosis verdict = redistribute(mesh, tensor, to).verdict;
    return verdict.ok() ? check_marking(mesh, tensor.layout, to) : verdict;
  }
  template <class X, class To>
  [[nodiscard]] static constexpr auto judge() noexcept {
    return answer_to(
        [] { return check_marking(mesh_of<X>::value, X::layout_type::value, To::value); },
        facts<operand_at{0}, call_instead<mesh_of<X>, To>::value>{});
  }
};

/// Returns a tensor with a run-time layout that has been given another one, if `Rule` permits it.
template <class Rule, class X>
[[nodiscard]] X promised(const X& x, const layout_desc& to) {
  const diagnosis verdict = Rule::check(x.mesh(), x.tensor(), to);
  if (!verdict.ok()) fail(verdict, promise_advice(x.mesh(), x.tensor(), to, verdict));
  return X::value_domain::reshard(x, to);
}

/// The call of a function that gives a tensor a layout without moving data, if `Rule` permits it. A
/// temporary that already has the layout is passed on, so that expressions are still fused.
template <class Rule, class Target, class Policy>
struct promise_call {
  template <class X>
  static constexpr bool stays =
      std::is_same_v<typename std::remove_cvref_t<X>::layout_type,
                     resharded_layout<std::remove_cvref_t<X>, Target, Policy>>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using tensor = std::remove_cvref_t<X>;
    using moved = typename outcome<reshard_call<Target, Policy>, tensor>::judged;
    if constexpr (!moved::ok || ValueOperand<X>) {
      return moved{};
    } else {
      using judged =
          decltype(Rule::template judge<tensor, resharded_layout<tensor, Target, Policy>>());
      if constexpr (!judged::ok)
        return judged{};
      else if constexpr (!std::is_lvalue_reference_v<X> && stays<X>)
        return allowed<tensor>{};
      else
        return moved{};
    }
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    if constexpr (ValueOperand<X>)
      return promised<Rule>(x, value_target<Target, Policy>(x.mesh(), x.layout()));
    else if constexpr (!std::is_lvalue_reference_v<X> && stays<X>)
      return std::remove_cvref_t<X>(static_cast<X&&>(x));
    else
      return reshard<Target, Policy>(static_cast<X&&>(x));
  }
};

/// The call `clear_sharding`.
struct clear_call {
  template <class X>
  using whole = layout_from_key<mesh_of<X>, pack(cleared(X::layout_type::value))>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (!Operand<X>)
      return no_tensor<clearing, 0, X>{};
    else
      return judge_tensor<std::remove_cvref_t<X>>();
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    return reshard<whole<std::remove_cvref_t<X>>>(static_cast<X&&>(x));
  }

 private:
  template <class X>
  [[nodiscard]] static constexpr auto judge_tensor() noexcept {
    constexpr auto verdict = [] {
      return check_clearing(mesh_of<X>::value, X::layout_type::value);
    };
    if constexpr (verdict().ok())
      return typename outcome<reshard_call<whole<X>, void>, X>::judged{};
    else
      return answer_to<clearing>(verdict, facts<call_instead<mesh_of<X>, whole<X>>::value>{});
  }
};

/// The call `shard_as`.
struct alike_call {
  template <class X, class Like>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (!Operand<X> || !Operand<Like>)
      return no_tensor<alike_call, first_false<Operand<X>, Operand<Like>>, X, Like>{};
    else
      return typename outcome<reshard_call<typename std::remove_cvref_t<Like>::layout_type, void>,
                              std::remove_cvref_t<X>>::judged{};
  }
  template <class X, class Like>
  [[nodiscard]] static constexpr auto apply(X&& x, const Like& like) {
    if constexpr (mesh_of<X>::dynamic_axes > 0)
      if (x.mesh() != like.mesh()) fail({.rule = violation::operand_meshes_differ, .operand = 1});
    return reshard<typename Like::layout_type>(static_cast<X&&>(x));
  }
};

}  // namespace internal

/// Returns the same tensor with exactly this layout, which it already has or gets by local slices:
/// an assertion that never moves data. If a collective is necessary, the program does not compile,
/// and the error shows the collective and the `reshard` to write.
///
/// `Target` and `Policy` are those of `reshard`. Over a dyn axis, everything except a slice counts
/// as communication.
///
///     auto h = constrain<P<"data", "model">>(einsum<"bi,ih->bh">(x, w1));
template <class Target, class Policy = void, class X>
[[nodiscard]] constexpr internal::outcome_of<
    internal::promise_call<internal::constraining, Target, Policy>, X>
constrain(X&& x) {
  return internal::carry_out<internal::promise_call<internal::constraining, Target, Policy>>(
      static_cast<X&&>(x));
}

/// Returns a replicated tensor split by `Target`: every device keeps its part; `x` does not change.
/// A tensor that is split or pending may be marked only with the layout that it has; otherwise call
/// `clear_sharding` or `reshard` first.
///
/// The layout of host data is set by `distribute<X>`; data that wait on the host, of
/// `distribute_when_used<X>`, take the one that is marked.
///
///     auto rows = mark_sharding<P<"data", none>>(whole);
template <class Target, class Policy = void, class X>
[[nodiscard]] constexpr internal::outcome_of<
    internal::promise_call<internal::marking, Target, Policy>, X>
mark_sharding(X&& x) {
  return internal::carry_out<internal::promise_call<internal::marking, Target, Policy>>(
      static_cast<X&&>(x));
}

/// Returns the same tensor, replicated on every device, so that it can be marked again: a `reshard`
/// whose collectives are in the ledger. A pending reduction must first be finished by a `reshard`.
///
///     auto columns = mark_sharding<P<none, "model">>(clear_sharding(rows));
template <class X>
  requires(!ValueOperand<X>)
[[nodiscard]] constexpr internal::outcome_of<internal::clear_call, X> clear_sharding(X&& x) {
  return internal::carry_out<internal::clear_call>(static_cast<X&&>(x));
}

/// Returns `x` with the layout of `like`, including pending reductions and policy: a `reshard` for
/// two values that are to be sharded alike, whatever the layout is. Both must have the same mesh
/// and rank; equal layouts need no communication.
///
///     auto momentum = shard_as(gradient, weights);
template <class X, class Like>
  requires(!ValueOperand<X>)
[[nodiscard]] constexpr internal::outcome_of<internal::alike_call, X, const Like&> shard_as(
    X&& x, const Like& like) {
  return internal::carry_out<internal::alike_call>(static_cast<X&&>(x), like);
}

}  // namespace shardwise
