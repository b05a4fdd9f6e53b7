// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/nn/same_extents.hpp"
#include "shardwise/nn/together.hpp"
#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/normalising.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns how far tensors of elements `T` move, in the type of their arithmetic.
template <class T, class Rate>
[[nodiscard]] constexpr auto rate_for(const Rate& rate) {
  using C = compute_type<T>;
  if constexpr (Scalar<Rate>)
    return static_cast<C>(rate);
  else if constexpr (std::is_same_v<typename Rate::value_type, C>)
    return Rate(rate);
  else
    return cast<C>(rate);
}

/// The average as errors name it.
struct moved_average {
  static constexpr text_view name = "move_towards";
};
/// Judges a tensor that moves towards another by their types: they have the same extents, and the
/// average is split where the other is.
struct judges_average {
  template <class Mean, class Now>
  [[nodiscard]] static constexpr auto of() noexcept {
    using extents = decltype(judge_same_extents<moved_average, Mean, Now>());
    if constexpr (!extents::ok) {
      return extents{};
    } else if constexpr (Operand<Mean> && Operand<Now>) {
      using now = paper_tensor<typename Mean::value_type, typename Now::extents_type,
                               typename Now::layout_type>;
      using made = result_of<pointwise<functions::add>, paper_of<Mean>, now>;
      if constexpr (!made::is_legal)
        return made::judge();
      else
        return judge_naming<paper_from<made>, paper_of<Mean>>();
    } else {
      return allowed<>{};
    }
  }
};

}  // namespace detail

namespace nn {

/// Moves the tensors of a nest towards those of another of the same structure: `average += rate
/// (model - average)`, the exponential moving average of weights with a decay of `1 - rate`. A rate
/// of 1 gives the model, up to rounding.
///
/// The average has the splits of the model, or is split further, so nothing is communicated. Its
/// elements may be wider: an average of `bfloat16` would not move by small steps. Buffers are
/// averaged like weights; integers and truth values are copied, and frozen parts stay. In a
/// compiled step the rate may be a number or a tensor of rank 0.
///
///     auto average = cast_nest<float>(model);
///     nn::move_towards(average, model, 0.001F);
template <class Average, class Model, class Rate>
constexpr void move_towards(Average& average, const Model& model, const Rate& rate) {
  const auto move = [&](const auto&, auto& mean, const auto& now) {
    using average_type = std::remove_cvref_t<decltype(mean)>;
    using T = typename average_type::value_type;
    require(internal::check_same_extents(mean.extents(), now.extents()));
    const auto assign = [&](auto&& made) {
      if constexpr (ValueOperand<average_type>)
        require(check_assignment(mean.tensor(), made.tensor()));
      internal::put(mean, std::forward<decltype(made)>(made));
    };
    if constexpr (Fractional<T>)
      assign(internal::narrowed<T>(lerp(internal::widened(mean),
                                        internal::narrowed<compute_type<T>>(now),
                                        detail::rate_for<T>(rate))));
    else
      assign(internal::narrowed<T>(now));
  };
  constexpr auto frozen = internal::frozen_parts::are_buffers;
  using judged =
      decltype(internal::judge_together<frozen, detail::judges_average, Average, Model>());
  if constexpr (internal::is_judged_well<judged>())
    internal::walk_together<frozen>(internal::of_any_layouts<decltype(move)>{move},
                                    internal::no_path{}, average, model);
}

}  // namespace nn

}  // namespace shardwise
