// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"

namespace shardwise {

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
    std::conditional_t<std::is_void_v<Policy>,
                       typename std::remove_cvref_t<X>::layout_type::policy_type, Policy>,
    Target, typename std::remove_cvref_t<X>::layout_type::partial_type::finished>::type;

/// The rule that a reshard breaks before its extents are looked at.
template <class From, class To>
[[nodiscard]] constexpr auto refuse_reshard() noexcept {
  if constexpr (!std::is_same_v<typename From::mesh_type, typename To::mesh_type>) {
    return refused<operand_meshes_differ<reshard_to<typename To::spec_type>, operand<0>,
                                         typename From::mesh_type, typename To::mesh_type>>{};
  } else {
    constexpr unsigned created = created_pending(From::value, To::value);
    constexpr unsigned left = From::value.manual ^ To::value.manual;
    constexpr name axis = first_axis(From::mesh_type::value, created != 0 ? created : left);
    if constexpr (created == 0)
      return refused<
          manual_axis_is_left<to_fixed_string<axis.size()>(axis), typename To::spec_type>>{};
    else
      return refused<reshard_would_create_partial<to_fixed_string<axis.size()>(axis), To>>{};
  }
}

/// Judges a reshard.
template <class From, class To, class Extents,
          bool Legal = std::is_same_v<typename From::mesh_type, typename To::mesh_type>&&
                               created_pending(From::value, To::value) == 0 &&
                       From::value.manual == To::value.manual>
struct reshard_judge : extents_judge<To, Extents> {};
template <class From, class To, class Extents>
struct reshard_judge<From, To, Extents, false> : decltype(refuse_reshard<From, To>()) {};

}  // namespace detail

/// The same tensor under another layout: the only door through which data moves between devices.
///
/// `Target` is a spec (pending reductions are finished; the policy stays the operand's unless
/// `uneven` is given) or a whole layout. What moves is in the ledger of `trace` and in `explain`.
///
///     auto y = reshard<P<"data", none>>(x);
///     auto z = reshard<layout<pod, P<none, none>, partial<"model">>>(x);  // still pending
template <class Target, class Policy = void, Operand X>
[[nodiscard]] constexpr decltype(auto) reshard(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using paper = paper_of<X>;
    using from = typename paper::layout_type;
    using to = detail::resharded_layout<X, Target, Policy>;
    using judged = detail::reshard_judge<from, to, typename paper::extents_type>;
    using domain = typename std::remove_cvref_t<X>::domain;
    if constexpr (judged::ok) {
      return domain::template reshard<
          paper_tensor<typename paper::value_type, typename paper::extents_type, to>>(
          static_cast<X&&>(x));
    } else {
      return detail::given<judged>::value();
    }
  }
}

}  // namespace shardwise
