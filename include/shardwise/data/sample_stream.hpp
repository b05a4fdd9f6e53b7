// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/data/epoch_plan.hpp"
#include "shardwise/data/sample_fields.hpp"

#include <range/v3/range/access.hpp>
#include <range/v3/range/concepts.hpp>
#include <range/v3/range/primitives.hpp>
#include <range/v3/range/traits.hpp>
#include <range/v3/view/all.hpp>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace shardwise {

/// A data set: a range of samples of which each can be read directly, and whose number is known.
/// Vectors, spans and the views of range-v3 and of the standard library are data sets; samples are
/// numbers, blocks of numbers, or tuples, aggregates and maps of these.
template <class R>
concept SampleRange = ranges::random_access_range<R> && ranges::sized_range<R>;

/// A container of samples that its copies share: `shuffle` and `batch` make one of a container that
/// is moved into them.
template <class Container>
class shared_samples : public ranges::view_base {
 public:
  shared_samples() = default;
  explicit shared_samples(Container all)
      : all_(std::make_shared<const Container>(std::move(all))) {}

  [[nodiscard]] auto begin() const { return std::begin(*all_); }
  [[nodiscard]] auto end() const { return std::end(*all_); }

 private:
  std::shared_ptr<const Container> all_ = std::make_shared<const Container>();
};

namespace detail {

/// Returns a view of a data set, which owns a container that is moved in.
template <class R>
[[nodiscard]] auto view_of_samples(R&& samples) {
  using plain = std::remove_cvref_t<R>;
  if constexpr (ranges::view_<plain> || std::is_lvalue_reference_v<R>)
    return ranges::views::all(std::forward<R>(samples));
  else
    return shared_samples<plain>(std::forward<R>(samples));
}
template <class R>
using samples_view = decltype(view_of_samples(std::declval<R>()));

/// Leaves samples as they are.
struct unchanged_samples {
  template <class S>
  [[nodiscard]] constexpr S operator()(S&& sample, std::uint64_t, index_t) const {
    return std::forward<S>(sample);
  }
};

/// Changes the samples that another function made, with a key of each.
template <class First, class F>
struct augmented_samples {
  First first;
  random_key key;
  F change;

  template <class S>
  [[nodiscard]] constexpr auto operator()(S&& sample, std::uint64_t epoch, index_t index) const {
    return change(first(std::forward<S>(sample), epoch, index),
                  key.fold_in(epoch).fold_in(static_cast<std::uint64_t>(index)));
  }
};

}  // namespace detail

/// A data set with the order of its samples in each epoch, and what is made of each sample: the
/// result of `shuffle` and `augment`.
template <SampleRange View, class Made = detail::unchanged_samples>
class sample_stream {
 public:
  explicit sample_stream(View samples, std::optional<random_key> key = {}, Made made = {})
      : samples_(std::move(samples)), key_(key), made_(std::move(made)) {}

  /// Returns the number of samples.
  [[nodiscard]] index_t size() const { return static_cast<index_t>(ranges::distance(samples_)); }
  [[nodiscard]] const std::optional<random_key>& key() const noexcept { return key_; }
  /// Returns a sample, by its index in the data set, as it is in an epoch.
  [[nodiscard]] decltype(auto) sample(std::uint64_t epoch, index_t index) const {
    const auto first = ranges::begin(samples_);
    using difference = ranges::range_difference_t<const View>;
    return made_(first[static_cast<difference>(index)], epoch, index);
  }

  /// Returns the same samples in a random order.
  [[nodiscard]] sample_stream shuffled(random_key key) && {
    return sample_stream(std::move(samples_), key, std::move(made_));
  }
  /// Returns the same order of changed samples.
  template <class F>
  [[nodiscard]] auto augmented(random_key key, F change) && {
    using made = detail::augmented_samples<Made, F>;
    return sample_stream<View, made>(std::move(samples_), key_,
                                     made{std::move(made_), key, std::move(change)});
  }

 private:
  View samples_;
  std::optional<random_key> key_;
  Made made_;
};

namespace detail {

template <class S>
inline constexpr bool is_stream = false;
template <class View, class Made>
inline constexpr bool is_stream<sample_stream<View, Made>> = true;

/// A data set, or what `shuffle` or `augment` has made of one.
template <class R>
concept StreamOrRange = is_stream<std::remove_cvref_t<R>> || SampleRange<R>;

template <StreamOrRange R>
[[nodiscard]] auto stream_of(R&& samples) {
  if constexpr (is_stream<std::remove_cvref_t<R>>) {
    std::remove_cvref_t<R> copy(std::forward<R>(samples));
    return copy;
  } else {
    return sample_stream<samples_view<R>>(view_of_samples(std::forward<R>(samples)));
  }
}
template <class R>
using stream_type = decltype(stream_of(std::declval<R>()));

struct shuffle_of_samples {
  random_key key;

  template <StreamOrRange R>
  [[nodiscard]] friend auto operator|(R&& samples, const shuffle_of_samples& how) {
    return stream_of(std::forward<R>(samples)).shuffled(how.key);
  }
};

template <class F>
struct change_of_samples {
  random_key key;
  F change;

  template <StreamOrRange R>
  [[nodiscard]] friend auto operator|(R&& samples, const change_of_samples& how) {
    return stream_of(std::forward<R>(samples)).augmented(how.key, how.change);
  }
};

}  // namespace detail

/// Gives a data set a random order, another one in each epoch: a permutation that depends on the
/// key, the number of the epoch and the number of samples only, and is not stored.
///
///     samples | shuffle(random_key{7}) | batch(32, last_batch::dropped)
[[nodiscard]] inline detail::shuffle_of_samples shuffle(random_key key) noexcept { return {key}; }

/// Replaces each sample by `change(sample, key)`, with a key that depends on `key`, the epoch and
/// the index of the sample only: random changes are the same for any order and number of threads.
///
///     samples | augment(random_key{8}, [](const image& x, random_key key) { return shift(x, key);
///     })
template <class F>
[[nodiscard]] detail::change_of_samples<F> augment(random_key key, F change) {
  return {key, std::move(change)};
}

}  // namespace shardwise
