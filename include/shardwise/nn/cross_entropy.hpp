// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/options.hpp"
#include "shardwise/nn/same_extents.hpp"
#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/cross_entropy.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/take.hpp"

#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace nn {

/// Label smoothing: the part of the probability of a label that is spread evenly over all classes.
struct smoothing {
  double part = 0;
};

}  // namespace nn

namespace detail {

/// Replaces the weights of classes, and those of labels, where all are 1.
struct no_weights {};
template <class W>
inline constexpr bool are_weights = !std::is_same_v<W, no_weights>;

template <class X>
struct is_smoothing : std::is_same<X, nn::smoothing> {};
template <class X>
struct is_tensor_option : std::bool_constant<EitherOperand<X>> {};

/// The weights of classes, as errors name them.
struct class_weights {
  static constexpr text_view name = "class_weights";
};

/// The cross entropy of integer labels with options, along the last dimension; `Ignoring` states
/// whether there is a label that does not count.
template <int Dim, class Permitted, bool Ignoring>
struct labelled_entropy {
  /// Returns where labels differ from a number, which may be beyond their range.
  template <class Labels>
  [[nodiscard]] static constexpr auto differs_from(const Labels& labels, std::int64_t number) {
    using L = typename Labels::value_type;
    if constexpr (std::is_same_v<L, std::uint8_t>)
      return not_equal(cast<std::int32_t>(labels),
                       static_cast<std::int32_t>(std::in_range<L>(number) ? number : -1));
    else
      return not_equal(labels, std::in_range<L>(number) ? static_cast<L>(number)
                                                        : std::numeric_limits<L>::min());
  }
  /// Returns the mean loss of the labels that count, each with the weight of its class.
  template <class X, class Labels, class Weights>
  [[nodiscard]] static constexpr auto mean_of(const X& logits, const Labels& given,
                                              std::int64_t ignored, const Weights& weights,
                                              double part) {
    using T = typename X::value_type;
    using C = compute_type<T>;
    using L = typename Labels::value_type;
    if constexpr (Ignoring) {
      const auto counts = made_tensor(differs_from(given, ignored));
      // A label that does not count may be no class at all.
      const auto labels = made_tensor(where(counts, given, L{}));
      const auto of_labels = weights_of(labels, widened_weights<C>(weights));
      const auto each = losses(logits, labels, widened_weights<C>(weights), of_labels, part);
      const auto loss = sum(where(counts, each, C{}));
      if constexpr (are_weights<Weights>)
        return divided<T>(loss, sum(where(counts, of_labels, C{})));
      else
        return divided<T>(loss, sum(cast<C>(counts)));
    } else {
      const auto of_labels = weights_of(given, widened_weights<C>(weights));
      const auto each = losses(logits, given, widened_weights<C>(weights), of_labels, part);
      if constexpr (are_weights<Weights>)
        return divided<T>(sum(each), sum(of_labels));
      else
        return mean(narrowed<T>(each));
    }
  }

 private:
  template <class C, class Weights>
  [[nodiscard]] static constexpr auto widened_weights(const Weights& weights) {
    if constexpr (are_weights<Weights>)
      return made_tensor(narrowed<C>(weights));
    else
      return no_weights{};
  }
  /// Returns the weight of the class of each label.
  template <class Labels, class Weights>
  [[nodiscard]] static constexpr auto weights_of(const Labels& labels, const Weights& weights) {
    if constexpr (are_weights<Weights>)
      return made_tensor(finished(take<0>(weights, labels), Permitted{}));
    else
      return no_weights{};
  }
  /// Returns the loss of each label. The sums over classes are reduced in one collective.
  template <class X, class Labels, class Weights, class OfLabels>
  [[nodiscard]] static constexpr auto losses(const X& logits, const Labels& labels,
                                             const Weights& weights, const OfLabels& of_labels,
                                             double part) {
    using C = compute_type<typename X::value_type>;
    const auto below = made_tensor(below_greatest<Dim>(widened(logits), Permitted{}));
    const auto label = squeeze<Dim>(take_along<Dim>(below, unsqueeze<Dim>(labels)));
    const C kept = static_cast<C>(1 - part);
    const C spread = static_cast<C>(part / static_cast<double>(logits.extents()[Dim]));
    auto chosen = made_tensor(label);
    if (part != 0) {
      if constexpr (are_weights<Weights>)
        chosen = label * (of_labels * kept) +
                 pending_like(chosen, sum<Dim>(weighted(below, weights))) * spread;
      else
        chosen = label * kept + sum<Dim>(below) * spread;
    }
    const auto [all, wanted] = finishes_together<Permitted>::apply(sum<Dim>(exp(below)), chosen);
    if constexpr (are_weights<Weights>) {
      auto mass = made_tensor(of_labels * kept);
      if (part == 0) return made_tensor(log(all) * mass - weighted(wanted, mass));
      mass += finished(sum(weights), Permitted{}) * spread;
      return made_tensor(log(all) * mass - wanted);
    } else {
      return made_tensor(log(all) - wanted);
    }
  }
  /// Returns a sum that is added to another one: of split weights beside whole logits, it is
  /// reduced first.
  template <class X, class Y>
  [[nodiscard]] static constexpr auto pending_like(const X& like, const Y& sum) {
    if constexpr (ValueOperand<X>)
      return like.layout().pending == sum.layout().pending ? Y(sum) : finished(sum, Permitted{});
    else if constexpr (X::layout_type::value.pending == Y::layout_type::value.pending)
      return Y(sum);
    else
      return finished(sum, Permitted{});
  }
  /// Returns a sum of losses divided by a sum of weights, which every device must know.
  template <class T, class X, class Y>
  [[nodiscard]] static constexpr auto divided(const X& losses, const Y& weights) {
    return with_terms_as<T>(losses / finished(weights, Permitted{}));
  }
};

/// Returns probabilities with label smoothing and the weights of classes.
template <int Dim, class P, class Weights>
[[nodiscard]] constexpr auto smoothed(const P& given, const Weights& weights, double part) {
  using T = typename P::value_type;
  using C = compute_type<T>;
  const C spread = static_cast<C>(part / static_cast<double>(given.extents()[Dim]));
  const auto even = widened(given) * static_cast<C>(1 - part) + spread;
  if constexpr (are_weights<Weights>)
    return narrowed<T>(even * narrowed<C>(weights));
  else
    return narrowed<T>(even);
}

/// The verdict on the weights of classes: as many as there are classes.
template <class X, class Weights>
[[nodiscard]] constexpr auto judge_weights() noexcept {
  if constexpr (are_weights<Weights> && !ValueOperand<X> && !ValueOperand<Weights>)
    return judge_attributes<
        of_same_extents<class_weights>,
        paper_tensor<typename Weights::value_type, extents<X::extents_type::value[last_dim<X>]>,
                     typename Weights::layout_type>,
        paper_of<Weights>>();
  else
    return allowed<>{};
}
/// The verdict on options: at most one of each kind, and weights that fit. An error in weights has
/// been reported.
template <class X, class... Options>
struct options_verdict {
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (AnyRefused<Options...>)
      return refused<>{};
    else if constexpr (is_given_twice<is_tensor_option, Options...> ||
                       is_given_twice<is_smoothing, Options...>)
      return refused<misuse::option_is_given_twice>{};
    else
      return judge_weights<X,
                           std::remove_cvref_t<decltype(option_among<is_tensor_option, no_weights>(
                               std::declval<const Options&>()...))>>();
  }
  using type = decltype(judge());
};
template <class X, class... Options>
using verdict_on_options = typename options_verdict<X, Options...>::type;

/// Returns the mean cross entropy along the last dimension, with options.
template <bool Ignoring, int Last, class X, class Labels, class... Options>
[[nodiscard]] constexpr auto entropy_with(const X& logits, const Labels& labels,
                                          std::int64_t ignored, const Options&... options) {
  const auto permitted = permitted_among(options...);
  const auto& weights = option_among<is_tensor_option, no_weights>(options...);
  using weights_type = std::remove_cvref_t<decltype(weights)>;
  const double part = option_among<is_smoothing, nn::smoothing>(options...).part;
  require_probability(part);
  // An error is that of the function, which is not carried out otherwise.
  const auto plain = [&] { return shardwise::cross_entropy<Last>(logits, labels, permitted); };
  if constexpr (AnyRefused<decltype(plain())>) {
    return plain();
  } else if constexpr (!Ignoring && (... && are_across<Options>)) {
    return mean(plain());
  } else {
    if constexpr (are_weights<weights_type>)
      require(check_same_extents({logits.extents()[Last]}, weights.extents()));
    if constexpr (Fractional<typename Labels::value_type>)
      return mean(
          shardwise::cross_entropy<Last>(logits, smoothed<Last>(labels, weights, part), permitted));
    else
      return labelled_entropy<Last, decltype(permitted_among(options...)), Ignoring>::mean_of(
          logits, labels, ignored, weights, part);
  }
}

}  // namespace detail

namespace detail {

/// Labels that are indices of classes.
template <class Labels>
concept ClassLabels = EitherOperand<Labels> &&
    (!Fractional<typename Labels::value_type> || AnyRefused<Labels>);

}  // namespace detail

namespace nn {

/// An option of a cross entropy: weights of the classes `[classes]`, `smoothing`, or `across<...>`.
template <class X>
concept LabelOption = EitherOperand<X> || detail::is_smoothing<X>::value || internal::are_across<X>;

/// Returns the mean cross entropy of logits `[..., classes]` and integer labels `[...]`, or
/// probabilities `[..., classes]`: a pending sum over the axes that split the labels. Classes may
/// be split over permitted axes.
///
/// `smoothing{0.1}` spreads a tenth of the probability of each label over all classes. Weights of
/// the classes multiply the losses of their labels, and the mean of integer labels is divided by
/// the sum of these weights: the axes that split the labels must be permitted too, for the
/// reduction of one number. Weights are whole on every device, or split like the classes.
///
///     auto loss = reshard<P<>>(nn::cross_entropy(model(x), labels));
///     auto soft = nn::cross_entropy(model(x), labels, nn::smoothing{0.1}, across<"model">);
///     auto rare = nn::cross_entropy(model(x), labels, weights, across<"data">);
template <EitherOperand X, EitherOperand Labels, LabelOption... Options>
  requires(detail::verdict_on_options<X, Options...>::ok)
[[nodiscard]] constexpr auto cross_entropy(const X& logits, const Labels& labels,
                                           const Options&... options) {
  if constexpr (ValueOperand<X>)
    return detail::with_last_dim(logits, [&](auto last) {
      return detail::entropy_with<false, last()>(logits, labels, 0, options...);
    });
  else
    return detail::entropy_with<false, detail::last_dim<X>>(logits, labels, 0, options...);
}

/// Error: two options of a kind, or weights of other classes.
template <EitherOperand X, EitherOperand Labels, LabelOption... Options>
  requires(!detail::verdict_on_options<X, Options...>::ok)
constexpr auto cross_entropy(const X&, const Labels&, const Options&...) ->
    typename detail::verdict_on_options<X, Options...>::type {
  return {};
}

/// The same without the labels that are `Ignored`, such as those of padding: their losses are 0,
/// and the mean is over the others. The axes that split the labels must be permitted, for the
/// reduction of one number. If no label counts, the result is NaN.
///
///     auto loss = reshard<P<>>(nn::cross_entropy_ignoring<-100>(model(x), labels,
///     across<"data">));
template <std::int64_t Ignored, EitherOperand X, detail::ClassLabels Labels, LabelOption... Options>
  requires(detail::verdict_on_options<X, Options...>::ok)
[[nodiscard]] constexpr auto cross_entropy_ignoring(const X& logits, const Labels& labels,
                                                    const Options&... options) {
  if constexpr (ValueOperand<X>)
    return detail::with_last_dim(logits, [&](auto last) {
      return detail::entropy_with<true, last()>(logits, labels, Ignored, options...);
    });
  else
    return detail::entropy_with<true, detail::last_dim<X>>(logits, labels, Ignored, options...);
}

/// Error: two options of a kind, or weights of other classes.
template <std::int64_t Ignored, EitherOperand X, detail::ClassLabels Labels, LabelOption... Options>
  requires(!detail::verdict_on_options<X, Options...>::ok)
constexpr auto cross_entropy_ignoring(const X&, const Labels&, const Options&...) ->
    typename detail::verdict_on_options<X, Options...>::type {
  return {};
}

}  // namespace nn

}  // namespace shardwise
