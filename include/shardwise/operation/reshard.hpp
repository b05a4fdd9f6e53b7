// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"
#include "shardwise/layout/tensor_judge.hpp"
#include "shardwise/operation/misplaced_options.hpp"

namespace shardwise {

/// The name of `reshard` in errors.
struct resharding;

namespace internal {

/// The target layout of `reshard<Target>`: a spec on the operand's mesh, or a whole layout.
template <class Mesh, class Policy, class Target, class Finished = partial<>>
struct reshard_target {
  using type = Target;
};
template <class Mesh, class Policy, fixed_string... Entries, class Finished>
struct reshard_target<Mesh, Policy, P<Entries...>, Finished> {
  using type = layout<Mesh, P<Entries...>, Finished, Policy>;
};

/// The policy for a spec: exact or uneven as in the operand's layout. Entries state which
/// dimensions have a single cut.
template <class Layout>
using policy_of_spec = std::conditional_t<Layout::value.uneven, uneven, exact>;

/// The layout of the result of `reshard<Target, Policy>`.
template <class X, class Target, class Policy>
using resharded_layout = typename reshard_target<
    mesh_of<X>,
    std::conditional_t<std::is_void_v<Policy>, policy_of_spec<typename X::layout_type>, Policy>,
    Target, typename X::layout_type::partial_type::finished>::type;

/// Checks the target of a reshard by itself, without instantiating a layout, which would report its
/// own error.
template <class Target>
struct target_judge
    : std::conditional_t<LayoutType<Target>, allowed<>,
                         refused<misuse::target_is_not_a_layout, shown_operand<Target>>> {};
template <class Mesh, class Spec, class Partial, class Policy>
struct target_judge<layout<Mesh, Spec, Partial, Policy>>
    : layout_judge<Mesh, Spec, Partial, Policy> {};

/// Checks the target of a reshard of a tensor with a run-time layout; the rest is checked when the
/// call is made.
template <class Target, class Policy>
[[nodiscard]] constexpr auto judge_value_target() noexcept {
  if constexpr (!requires { requires std::is_same_v<decltype(Target::value), const spec_desc>; })
    return target_judge<Target>{};
  else if constexpr (std::is_void_v<Policy>)
    return allowed<>{};
  else if constexpr (requires { policy_desc(Policy::value); })
    return allowed<>{};
  else
    return wrong_part<3, Policy>{};
}
/// Returns the layout of `reshard<Target, Policy>` for a tensor with a run-time layout.
template <class Target, class Policy>
[[nodiscard]] constexpr layout_desc value_target(const mesh_desc& mesh, const layout_desc& from) {
  if constexpr (LayoutType<Target>) {
    require_mesh_of_type(mesh, Target::mesh_type::value);
    return Target::value;
  } else if constexpr (std::is_void_v<Policy>) {
    return layout_with_spec(mesh, from, Target::value);
  } else {
    return layout_with_spec(mesh, from, Target::value, policy_desc(Policy::value));
  }
}

/// A reshard with valid types.
template <class From, class To, class Extents>
concept LegalReshard = requires {
  requires target_judge<To>::ok;
  requires std::is_same_v<typename From::mesh_type, typename To::mesh_type>;
  requires(check_reshard(From::mesh_type::value, From::value, To::value).ok());
  requires extents_judge<To, Extents>::ok;
};

/// The call `reshard<Target, Policy>`.
template <class Target, class Policy>
struct reshard_call {
  template <class X>
  using to = resharded_layout<std::remove_cvref_t<X>, Target, Policy>;

  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (!EitherOperand<X>)
      return no_tensor<resharding, 0, X>{};
    else if constexpr (ValueOperand<X>)
      return judge_value<std::remove_cvref_t<X>>();
    else
      return judge_layouts<std::remove_cvref_t<X>, to<X>>();
  }

 private:
  template <class X>
  [[nodiscard]] static constexpr auto judge_value() noexcept {
    using judged = decltype(judge_value_target<Target, Policy>());
    return std::conditional_t<judged::ok, allowed<X>, judged>{};
  }
  template <class X, class To>
  [[nodiscard]] static constexpr auto judge_layouts() noexcept {
    if constexpr (!target_judge<To>::ok) {
      return target_judge<To>{};
    } else if constexpr (!std::is_same_v<mesh_of<X>, typename To::mesh_type>) {
      return refused<
          violation::operand_meshes_differ,
          of_types<reshard_to<typename To::spec_type>, mesh_of<X>, typename To::mesh_type>,
          operand_at{0}>{};
    } else {
      using moved =
          decltype(answer_to<mesh_of<X>, typename To::spec_type, typename To::partial_type>(
              [] { return check_reshard(mesh_of<X>::value, X::layout_type::value, To::value); }));
      return std::conditional_t<moved::ok, extents_judge<To, typename X::extents_type>, moved>{};
    }
  }
};

template <class Target, class Policy, class X>
  requires(operand_kind_of<std::remove_cvref_t<X>> == operand_kind::typed &&
           LegalReshard<typename std::remove_cvref_t<X>::layout_type,
                        resharded_layout<std::remove_cvref_t<X>, Target, Policy>,
                        typename std::remove_cvref_t<X>::extents_type>)
struct outcome<reshard_call<Target, Policy>, X> {
  static constexpr bool is_refusal = false;
  using operand_type = std::remove_cvref_t<X>;
  using type = typename operand_type::domain::template tensor<
      typename operand_type::value_type, typename operand_type::extents_type,
      resharded_layout<operand_type, Target, Policy>>;
  using judged = allowed<type>;
};

}  // namespace internal

/// Returns the same tensor with another layout. Outside manual sharding, data moves between devices
/// only by `reshard` and by what `across` or `as` permits.
///
/// `Target` is a spec (pending reductions are finished; exact stays exact and uneven stays uneven,
/// unless `Policy` is `uneven` or `single_cut`) or a whole layout. The ledger of `trace` and
/// `explain` show the communication. A tensor with a run-time layout is checked when the call is
/// made.
///
///     auto y = reshard<P<"data", none>>(x);
///     auto u = reshard<P<"data", none>, uneven>(x);
///     auto z = reshard<layout<pod, P<none, none>, partial<"model">>>(x);  // still pending
template <class Target, class Policy = void, class X>
[[nodiscard]] constexpr internal::outcome_of<internal::reshard_call<Target, Policy>, X> reshard(
    X&& x) {
  using outcome = internal::outcome<internal::reshard_call<Target, Policy>, X>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else if constexpr (ValueOperand<X>)
    return std::remove_cvref_t<X>::value_domain::reshard(
        x, internal::value_target<Target, Policy>(x.mesh(), x.layout()));
  else
    return std::remove_cvref_t<X>::domain::template reshard<typename outcome::type>(
        static_cast<X&&>(x));
}

/// Takes the entries of the spec instead of `P`.
///
///     auto y = reshard<"data", none>(x);
template <fixed_string First, fixed_string... Rest, class X>
[[nodiscard]] constexpr auto reshard(X&& x)
    -> decltype(reshard<P<First, Rest...>>(static_cast<X&&>(x))) {
  return reshard<P<First, Rest...>>(static_cast<X&&>(x));
}

/// Error: the target is a template argument.
template <Operand X, class Target>
detail::call_misplaced<detail::written_call<"reshard", "P<...>", "x", Target>, X> reshard(
    const X&, const Target&) {
  return {};
}

}  // namespace shardwise
