// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"
#include "shardwise/layout/tensor_judge.hpp"

namespace shardwise {

/// The operation `reshard`, as errors name it.
struct resharding;

/// `Target` stands where a spec or a layout is wanted.
template <class Target>
struct target_is_not_a_layout {
  static_assert(respected<target_is_not_a_layout>, "data moves to a spec P<...> or a layout<...>");
};

namespace detail {

/// The layout that `reshard<Target>` means: a spec on the operand's mesh, or a whole layout.
template <class Mesh, class Policy, class Target, class Finished = partial<>>
struct reshard_target {
  using type = Target;
};
template <class Mesh, class Policy, fixed_string... Entries, class Finished>
struct reshard_target<Mesh, Policy, P<Entries...>, Finished> {
  using type = layout<Mesh, P<Entries...>, Finished, Policy>;
};

/// The layout that an operand gets by `reshard<Target, Policy>`.
template <class X, class Target, class Policy>
using resharded_layout = typename reshard_target<
    mesh_of<X>,
    std::conditional_t<std::is_void_v<Policy>, typename X::layout_type::policy_type, Policy>,
    Target, typename X::layout_type::partial_type::finished>::type;

/// Judges the target of a reshard by itself. A layout that is written out is not instantiated for
/// it, which would be the error of a mistake already.
template <class Target>
struct target_judge : std::conditional_t<LayoutType<Target>, legal,
                                         refused<target_is_not_a_layout<briefly<Target>>>> {};
template <class Mesh, class Spec, class Partial, class Policy>
struct target_judge<layout<Mesh, Spec, Partial, Policy>>
    : layout_judge<Mesh, Spec, Partial, Policy> {};

/// A reshard that the types allow.
template <class From, class To, class Extents>
concept LegalReshard = requires {
  requires target_judge<To>::ok;
  requires std::is_same_v<typename From::mesh_type, typename To::mesh_type>;
  requires(check_reshard(From::mesh_type::value, From::value, To::value).ok());
  requires extents_judge<To, Extents>::ok;
};

/// Judges any other.
template <class X, class Target, class Policy>
[[nodiscard]] constexpr auto judge_reshard() noexcept {
  if constexpr (AnyRefused<X>) {
    return allowed<refused_value>{};
  } else if constexpr (!Operand<X>) {
    return refused<no_tensor<resharding, 0, X>>{};
  } else {
    using from = typename X::layout_type;
    using to = resharded_layout<X, Target, Policy>;
    if constexpr (!target_judge<to>::ok) {
      return target_judge<to>{};
    } else if constexpr (!std::is_same_v<mesh_of<X>, typename to::mesh_type>) {
      return refused<operand_meshes_differ<reshard_to<typename to::spec_type>, operand<0>,
                                           mesh_of<X>, typename to::mesh_type>>{};
    } else {
      constexpr diagnosis verdict = check_reshard(mesh_of<X>::value, from::value, to::value);
      constexpr auto axis = to_fixed_string<verdict.axis.size()>(verdict.axis);
      if constexpr (verdict.rule == broken::reshard_would_create_partial)
        return refused<reshard_would_create_partial<axis, typename to::partial_type>>{};
      else if constexpr (verdict.rule == broken::manual_axis_is_left)
        return refused<manual_axis_is_left<axis, typename to::spec_type>>{};
      else
        return extents_judge<to, typename X::extents_type>{};
    }
  }
}

/// What `reshard<Target, Policy>` gives of an `X`.
template <class X, class Target, class Policy>
struct reshard_outcome : given<decltype(judge_reshard<X, Target, Policy>())> {};
template <class X, class Target, class Policy>
  requires(standing_of<X> == standing::typed &&
           LegalReshard<typename X::layout_type, resharded_layout<X, Target, Policy>,
                        typename X::extents_type>)
struct reshard_outcome<X, Target, Policy> {
  static constexpr bool is_refusal = false;
  using type = typename X::domain::template tensor<typename X::value_type, typename X::extents_type,
                                                   resharded_layout<X, Target, Policy>>;
  using judged = allowed<type>;
};
template <class X, class Target, class Policy>
using resharded = typename reshard_outcome<std::remove_cvref_t<X>, Target, Policy>::type;

}  // namespace detail

/// The same tensor under another layout: the only door through which data moves between devices.
///
/// `Target` is a spec (pending reductions are finished; the policy stays the operand's unless
/// `uneven` is given) or a whole layout. What moves is in the ledger of `trace` and in `explain`.
///
///     auto y = reshard<P<"data", none>>(x);
///     auto z = reshard<layout<pod, P<none, none>, partial<"model">>>(x);  // still pending
template <class Target, class Policy = void, class X>
  requires(!ValueOperand<X>)
[[nodiscard]] constexpr detail::resharded<X, Target, Policy> reshard(X&& x) {
  using outcome = detail::reshard_outcome<std::remove_cvref_t<X>, Target, Policy>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else
    return std::remove_cvref_t<X>::domain::template reshard<typename outcome::type>(
        static_cast<X&&>(x));
}

}  // namespace shardwise
