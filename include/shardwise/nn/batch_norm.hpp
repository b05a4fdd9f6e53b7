// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/named_as.hpp"
#include "shardwise/nn/frozen.hpp"
#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/channel_norm.hpp"
#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/stop_gradient.hpp"

#include <ratio>
#include <utility>

namespace shardwise {

namespace nn {

/// The mean and the variance of each channel, averaged over batches: a buffer, which keeps its
/// elements.
template <class Mean, class Variance = Mean>
struct running_moments {
  Mean mean;
  Variance variance;
};

/// How far running moments move towards those of a batch, from 0 to 1: `old + rate (new - old)`.
struct momentum {
  double rate = 0.1;
};

}  // namespace nn

namespace internal {

template <class Mean, class Variance, ChangesElements Change>
struct changed_nest<nn::running_moments<Mean, Variance>, Change> {
  using type = nn::running_moments<Mean, Variance>;
};

}  // namespace internal

namespace detail {

/// Normalises each channel with the moments of the batch, and moves running moments towards them.
template <class Permitted, int Rank, class X, class Moments, class... Scale>
[[nodiscard]] constexpr auto batch_and_moments(const X& given, double epsilon, nn::momentum moves,
                                               const Moments& running, const Scale&... scale) {
  using T = typename X::value_type;
  require_probability(moves.rate);
  return [&]<int... D>(std::integer_sequence<int, D...>) {
    if constexpr (ValueOperand<X>)
      require_rule<layer_norm_of<0, (D + 2)...>, of_steps<Permitted>>(given);
    const auto wide = widened(given);
    const auto of = moments_of<Permitted, 0, (D + 2)...>(wide);
    const auto normal = over_root(of.centred, of.variance, epsilon);
    auto result =
        finish_gradient(narrowed<T>(scaled<Permitted>(normal, beside_positions<Rank>(scale)...)));
    const auto count = static_cast<double>(over(0, (D + 2)...).count(given.extents()));
    // An empty batch has no moments, and leaves the running ones as they are.
    const double rate = count > 0 ? moves.rate : 0;
    const auto moved = [&](const auto& old, const auto& now, double factor) {
      using Old = std::remove_cvref_t<decltype(old)>;
      using C = compute_type<typename Old::value_type>;
      const auto of_channels = narrowed<C>(stop_gradient(squeeze<0, (D + 2)...>(now)) * factor);
      auto made = narrowed<typename Old::value_type>(lerp(widened(old), of_channels, rate));
      // Of the type of the old moments, so that a program can assign them.
      if constexpr (AnyRefused<decltype(made)>)
        return made;
      else if constexpr (ValueOperand<decltype(made)>)
        return made_tensor(std::move(made));
      else if constexpr (is_named_as<paper_of<decltype(made)>, paper_of<Old>>)
        return Old{std::move(made)};
      else
        return made_tensor(std::move(made));
    };
    // Then sums without elements, not their quotients by 0: a weight of 0 does not remove NaN.
    const auto known = [&]<class Moment>(const Moment& moment, const auto& terms) -> Moment {
      if (count > 0) return moment;
      using Number = typename Moment::value_type;
      return finished(sum<0, (D + 2)...>(terms, keep_dims) / Number{1}, Permitted{});
    };
    // The running variance is the unbiased estimate: `n / (n - 1)` times the variance of the batch.
    auto mean = moved(running.mean, known(of.mean, wide), 1);
    auto variance = moved(running.variance, known(of.variance, for_products(of.centred)),
                          count > 1 ? count / (count - 1) : 1);
    return std::pair{std::move(result), nn::running_moments<decltype(mean), decltype(variance)>{
                                            std::move(mean), std::move(variance)}};
  }
  (std::make_integer_sequence<int, Rank - 2>{});
}

}  // namespace detail

namespace nn {

/// Normalises each channel of `[batch, channels, spatial...]`, multiplies by `scale` and adds
/// `shift`, both `[channels]`.
///
/// To train, it is called with a `momentum`: it then normalises with the mean and the variance of
/// the batch, and returns the result and the running moments after this batch, whose variance is
/// the unbiased estimate (divided by `n - 1`); an empty batch leaves them as they are. Without one,
/// it normalises with its running moments, a `buffer` that keeps its elements under a
/// mixed-precision policy. There is no training mode. If the batch or positions are split, the axes
/// of `Permitted` are those over which the moments of a batch are reduced.
///
///     nn::batch_norm<V> norm{ones<V>(pool), zeros<V>(pool), {{zeros<V>(pool), ones<V>(pool)}}};
///     const auto [y, running] = norm(x, nn::momentum{0.1});
///     const auto z = norm(x);
template <class Scale, class Shift = Scale, class Running = running_moments<Scale>,
          class Permitted = across_axes<>, class Epsilon = std::ratio<1, 100000>>
struct batch_norm {
  Scale scale;
  Shift shift;
  buffer<Running> running;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    // Directly where types have the rank: each call between makes a message of clang longer.
    if constexpr (Operand<X>)
      return normalised<X::extents_type::rank>(x);
    else
      return internal::with_rank<2, 5>(
          x, [&](auto rank) { return normalised<decltype(rank)::value>(x); });
  }
  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x, momentum moves) const {
    // An error is that of the function, which is not carried out otherwise.
    const auto judged = [&] {
      return shardwise::batch_norm(x, scale, shift, epsilon, Permitted{});
    };
    if constexpr (AnyRefused<decltype(judged())>)
      return std::pair{judged(), running.value};
    else
      return internal::with_rank<2, 5>(x, [&](auto rank) {
        return detail::batch_and_moments<Permitted, rank()>(x, epsilon, moves, running.value, scale,
                                                            shift);
      });
  }

 private:
  static constexpr double epsilon = detail::value_of_ratio<Epsilon>;

  template <int Rank, class X>
  [[nodiscard]] constexpr auto normalised(const X& x) const {
    const auto beside = [](const auto& of_channels) {
      return internal::widened(internal::beside_positions<Rank>(of_channels));
    };
    const auto normal = (internal::widened(x) - beside(running.value.mean)) /
                        sqrt(beside(running.value.variance) + epsilon);
    return internal::narrowed<typename X::value_type>(
        internal::scaled<Permitted>(normal, beside(scale), beside(shift)));
  }
};

}  // namespace nn

}  // namespace shardwise
