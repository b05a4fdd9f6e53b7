// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/channels.hpp"
#include "shardwise/operation/layer_norm.hpp"
#include "shardwise/operation/reshape.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// A norm along the dimensions `First...` and all positions of a tensor `[batch, channels,
/// spatial...]` of rank `Rank`. If there is no dimension to normalise along, the error is that the
/// tensor has no dimension `Least - 1`.
template <class Permitted, int Rank, int Least, class First, class Positions>
struct along_positions;
template <class Permitted, int Rank, int Least, int... First, int... D>
struct along_positions<Permitted, Rank, Least, std::integer_sequence<int, First...>,
                       std::integer_sequence<int, D...>> {
  using type = layer_norm_call<Permitted, First..., (D + 2)...>;
};
template <class Permitted, int Rank, int Least, int... First, int... D>
  requires(Rank < Least)
struct along_positions<Permitted, Rank, Least, std::integer_sequence<int, First...>,
                       std::integer_sequence<int, D...>> {
  using type = layer_norm_call<Permitted, Least - 1>;
};
template <class Permitted, int Rank, int Least, int... First>
using positions_call =
    typename along_positions<Permitted, Rank, Least, std::integer_sequence<int, First...>,
                             std::make_integer_sequence<int, (Rank > 2 ? Rank - 2 : 0)>>::type;

/// The call of a norm of channels with optional scale and shift, which calls `Norm::on<Rank>` with
/// both beside positions.
template <class Norm>
struct channels_call {
  template <class X, class Epsilon, class... Scale>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using tensor = std::remove_cvref_t<X>;
    if constexpr (ValueOperand<tensor>)
      return allowed<tensor>{};
    else if constexpr (!EitherOperand<tensor>)
      return Norm::template on<2>::template judge<X, Epsilon>();
    else
      return judge_on<tensor::extents_type::rank, X, Epsilon, Scale...>();
  }
  template <class X, class... Scale>
  [[nodiscard]] static constexpr auto apply(const X& x, double epsilon, const Scale&... scale) {
    return with_rank<2, 5>(x, [&](auto rank) {
      return Norm::template on<rank()>::apply(x, double{epsilon},
                                              beside_positions<rank()>(scale)...);
    });
  }

 private:
  template <int Rank, class X, class Epsilon, class... Scale>
  [[nodiscard]] static constexpr auto judge_on() noexcept {
    return Norm::template on<Rank>::template judge<const std::remove_cvref_t<X>&, Epsilon,
                                                   decltype(beside_positions<Rank>(
                                                       std::declval<const Scale&>()))...>();
  }
};
template <class Permitted>
struct over_batch {
  template <int Rank>
  using on = positions_call<Permitted, Rank, 2, 0>;
};
template <class Permitted>
struct over_positions {
  template <int Rank>
  using on = positions_call<Permitted, Rank, 3>;
};

/// The extents `[batch, channels, spatial...]` with the channels in groups, `[batch, groups,
/// channels / groups, spatial...]`.
template <index_t Groups, class Extents>
struct grouped_extents;
template <index_t Groups, index_t Batch, index_t Channels, index_t... Spatial>
struct grouped_extents<Groups, extents<Batch, Channels, Spatial...>> {
  static constexpr index_t in_group = Channels == dyn ? dyn : Channels / Groups;
  using type = extents<Batch, Groups, in_group, Spatial...>;
};
[[nodiscard]] constexpr extents_desc in_groups(const extents_desc& extents, index_t groups) {
  extents_desc out;
  for (int d = 0; d < extents.ssize(); ++d) {
    if (d == 1) out.push_back(groups);
    out.push_back(d == 1 && extents[d] != dyn ? extents[d] / groups : extents[d]);
  }
  return out;
}

/// A norm of groups of channels on abstract tensors, whose integer is the number of groups. It is
/// computed as a composition of other operations.
struct group_norm_operation {
  static constexpr text_view name = "group_norm";

  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const diagnosis known = over(1).judge(operands[0].rank());
    // The channels become two dimensions.
    if (known.ok() && operands[0].rank() == max_rank)
      return {.rule = violation::rank_is_too_high, .have = max_rank + 1, .want = max_rank};
    return known.ok() ? check_groups(operands[0].extents[1], how.integers[0], 0, 1) : known;
  }
};
template <index_t Groups>
struct group_norm_of {
  using operation_class = group_norm_operation;
  static constexpr attributes how = integer_attributes(Groups);
};

/// Normalises each group of channels, and scales each channel.
template <class Permitted, index_t Groups, int Rank>
struct groups_call {
  using inner = positions_call<Permitted, Rank + 1, 3>;
  /// Needs the channels as a whole, as a norm along them does.
  using gathering = fetching_call<layer_norm_of<1>, Permitted>;

  template <class X, class Epsilon, class... Scale>
  [[nodiscard]] static constexpr auto judge() noexcept {
    using tensor = std::remove_cvref_t<X>;
    if constexpr (Rank < 2) {
      return positions_call<Permitted, Rank, 2, 0>::template judge<X, Epsilon>();
    } else {
      using verdict = decltype(judge_attributes<group_norm_of<Groups>, paper_of<tensor>>());
      if constexpr (!verdict::ok)
        return verdict{};
      else
        return judge_groups<X, Epsilon, Scale...>();
    }
  }
  template <class X, class... Scale>
  [[nodiscard]] static constexpr auto apply(const X& given, double epsilon, const Scale&... scale) {
    using T = typename X::value_type;
    require(check_groups(given.extents()[1], Groups, 0, 1));
    const auto x = widened(with_whole_groups(given));
    const auto normal = inner::apply(grouped(x), double{epsilon});
    return finish_gradient(narrowed<T>(scaled<Permitted>(reshaped_like(x, normal), scale...)));
  }

 private:
  /// Returns the tensor, whose channels are gathered over permitted axes if groups would lie on
  /// several devices.
  template <class X>
  [[nodiscard]] static constexpr decltype(auto) with_whole_groups(const X& x) {
    if constexpr (ValueOperand<X>) {
      const tensor_desc known{element_of<typename X::value_type>, x.extents(), x.layout()};
      const factor_rule rule = reshape_rule(known.extents, in_groups(known.extents, Groups));
      if (propagate(x.mesh(), rule, {known}).verdict.ok()) return X(x);
      return X(gathering::gathered(x));
    } else {
      using groups = typename grouped_extents<Groups, typename X::extents_type>::type;
      if constexpr (decltype(whole_call<reshape_of<groups>>::template judge<const X&>())::ok)
        return (x);
      else
        return gathering::gathered(x);
    }
  }
  template <class X>
  [[nodiscard]] static constexpr auto grouped(const X& x) {
    if constexpr (ValueOperand<X>)
      return by_value(x, in_groups(x.extents(), Groups));
    else
      return reshape<typename grouped_extents<Groups, typename X::extents_type>::type>(x);
  }
  template <class Like, class X>
  [[nodiscard]] static constexpr auto reshaped_like(const Like& like, const X& x) {
    if constexpr (AnyRefused<X>)
      return refused_value{};
    else if constexpr (ValueOperand<X>)
      return by_value(x, like.extents());
    else
      return reshape<typename Like::extents_type>(x);
  }
  template <class X>
  [[nodiscard]] static X by_value(const X& x, const extents_desc& target) {
    return X::value_domain::template apply_with<reshape_operation, typename X::value_type>(
        reshape_operation::how(target), x);
  }
  template <class X, class Epsilon, class... Scale>
  [[nodiscard]] static constexpr auto judge_groups() noexcept {
    using tensor = std::remove_cvref_t<X>;
    using groups = typename grouped_extents<Groups, typename tensor::extents_type>::type;
    using whole = decltype(with_whole_groups(std::declval<const tensor&>()));
    using reshaped = decltype(whole_call<reshape_of<groups>>::template judge<whole>());
    if constexpr (!reshaped::ok)
      return reshaped{};
    else
      return judge_inner<typename reshaped::type, X, Epsilon, Scale...>();
  }
  template <class Reshaped, class X, class Epsilon, class... Scale>
  [[nodiscard]] static constexpr auto judge_inner() noexcept {
    using normal = decltype(inner::template judge<Reshaped, Epsilon>());
    if constexpr (!normal::ok)
      return normal{};
    else
      return judge_scales<X, Scale...>();
  }
  template <class X, class... Scale>
  [[nodiscard]] static constexpr auto judge_scales() noexcept {
    using verdict = decltype(judges_scale<Permitted>::template judge<X, double, Scale...>());
    if constexpr (!verdict::ok)
      return verdict{};
    else
      return allowed<decltype(apply(std::declval<X>(), 0.0, std::declval<Scale>()...))>{};
  }
};
template <class Permitted, index_t Groups>
struct over_groups {
  template <int Rank>
  using on = groups_call<Permitted, Groups, Rank>;
};

}  // namespace detail

/// Returns the values of each channel minus their mean over the batch and all positions, divided by
/// their standard deviation: `layer_norm<0, 2, ...>`, for a tensor `[batch, channels, spatial...]`.
/// Scale and shift, `[channels]`, are optional. Channels may be split; a split batch needs
/// permission, and its two means are reduced. The layer with running statistics is
/// `nn::batch_norm`.
///
///     auto y = batch_norm(x, scale, shift, 1e-5, across<"data">);   // f32[8@data, 16, 32, 32]
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::channels_call<detail::over_batch<internal::permitted_by<Given>>>, Given, const X&,
    double>
batch_norm(const X& x, double epsilon, const Given& given = {}) {
  return internal::carry_out_on<
      detail::channels_call<detail::over_batch<internal::permitted_by<Given>>>>(
      given, x, static_cast<double&&>(epsilon));
}
template <NamedOperand X, NamedOperand Scale, NamedOperand Shift,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::channels_call<detail::over_batch<internal::permitted_by<Given>>>, Given, const X&,
    double, const Scale&, const Shift&>
batch_norm(const X& x, const Scale& scale, const Shift& shift, double epsilon,
           const Given& given = {}) {
  return internal::carry_out_on<
      detail::channels_call<detail::over_batch<internal::permitted_by<Given>>>>(
      given, x, static_cast<double&&>(epsilon), scale, shift);
}

/// Returns the values of each channel of each element of the batch, normalised over all positions:
/// `layer_norm<2, ...>`; otherwise like `batch_norm`. Batch and channels may be split.
///
///     auto y = instance_norm(x, scale, shift, 1e-5);
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::channels_call<detail::over_positions<internal::permitted_by<Given>>>, Given, const X&,
    double>
instance_norm(const X& x, double epsilon, const Given& given = {}) {
  return internal::carry_out_on<
      detail::channels_call<detail::over_positions<internal::permitted_by<Given>>>>(
      given, x, static_cast<double&&>(epsilon));
}
template <NamedOperand X, NamedOperand Scale, NamedOperand Shift,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::channels_call<detail::over_positions<internal::permitted_by<Given>>>, Given, const X&,
    double, const Scale&, const Shift&>
instance_norm(const X& x, const Scale& scale, const Shift& shift, double epsilon,
              const Given& given = {}) {
  return internal::carry_out_on<
      detail::channels_call<detail::over_positions<internal::permitted_by<Given>>>>(
      given, x, static_cast<double&&>(epsilon), scale, shift);
}

/// Returns the values of each of `Groups` groups of channels of each element of the batch,
/// normalised over the group and all positions; scale and shift, `[channels]`, are optional. The
/// batch may be split, and channels where whole groups are on each device; other splits of channels
/// are gathered over permitted axes. At most one extent may be `dyn`.
///
///     auto y = group_norm<4>(x, scale, shift, 1e-5);    // f32[8@data, 16, 32, 32], 4 channels
///     each
template <index_t Groups, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::channels_call<detail::over_groups<internal::permitted_by<Given>, Groups>>, Given,
    const X&, double>
group_norm(const X& x, double epsilon, const Given& given = {}) {
  return internal::carry_out_on<
      detail::channels_call<detail::over_groups<internal::permitted_by<Given>, Groups>>>(
      given, x, static_cast<double&&>(epsilon));
}
template <index_t Groups, NamedOperand X, NamedOperand Scale, NamedOperand Shift,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<
    detail::channels_call<detail::over_groups<internal::permitted_by<Given>, Groups>>, Given,
    const X&, double, const Scale&, const Shift&>
group_norm(const X& x, const Scale& scale, const Shift& shift, double epsilon,
           const Given& given = {}) {
  return internal::carry_out_on<
      detail::channels_call<detail::over_groups<internal::permitted_by<Given>, Groups>>>(
      given, x, static_cast<double&&>(epsilon), scale, shift);
}

}  // namespace shardwise
