// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/data/sample_stream.hpp"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

/// A data set whose samples are received in batches: the result of `batch`.
template <class Stream, bool IsPadded>
struct batched_samples {
  Stream samples;
  epoch_plan plan;
  /// The dimension of the tensors of a batch that counts its samples.
  int batchdim = 0;
};

namespace detail {

/// A sample that is held: as a value, or where it is if the data set has it in memory.
template <class Stream>
class held_sample {
  using given = decltype(std::declval<const Stream&>().sample(0, 0));

 public:
  /// The type of the sample.
  using type = std::remove_cvref_t<given>;

  held_sample(const Stream& from, std::uint64_t epoch, index_t index) : index_(index) {
    if constexpr (std::is_lvalue_reference_v<given>)
      sample_ = std::addressof(from.sample(epoch, index));
    else
      sample_.emplace(from.sample(epoch, index));
  }
  [[nodiscard]] const type& operator*() const noexcept { return *sample_; }
  /// Returns the index of the sample in the data set.
  [[nodiscard]] index_t index() const noexcept { return index_; }

 private:
  std::conditional_t<std::is_lvalue_reference_v<given>, const type*, std::optional<type>> sample_;
  index_t index_;
};
template <class Stream>
using sample_type = typename held_sample<Stream>::type;

/// The samples of one batch that this process needs.
template <class Stream>
struct gathered_batch {
  index_t number = 0;
  index_t rows = 0;
  /// By row of the batch; empty for rows that other processes read.
  std::vector<std::optional<held_sample<Stream>>> samples{};
};

/// The stage of `batch`.
template <bool IsPadded>
struct batch_of_samples {
  index_t size;
  remaining_samples last;
  int batchdim;

  template <StreamOrRange R>
  [[nodiscard]] friend auto operator|(R&& samples, const batch_of_samples& how) {
    auto stream = stream_of(std::forward<R>(samples));
    const epoch_plan plan{stream.size(), how.size, how.last, stream.key()};
    return batched_samples<decltype(stream), IsPadded>{std::move(stream), plan, how.batchdim};
  }
};

}  // namespace detail

/// Groups the samples of a data set in batches of `size`; the choice `last` says what becomes of
/// those that do not fill one: `last_batch::dropped`, `kept` or `padded`. Padded batches have zeros
/// in the rows that are missing, and a mask as one more tensor, which is 1 for a sample and 0 for
/// such a row. Samples are counted along dimension `batchdim` of the tensors.
///
/// Throws `amount_is_out_of_range` if the size is not positive.
///
///     samples | shuffle(random_key{7}) | batch(32, last_batch::dropped)
template <remaining_samples Last>
[[nodiscard]] detail::batch_of_samples<Last == remaining_samples::padded> batch(
    index_t size, last_batch::choice<Last> last, int batchdim = 0) {
  if (size < 1)
    fail({.rule = violation::amount_is_out_of_range, .have = size, .want = 1},
         "a batch has one sample or more");
  if (batchdim < 0 || batchdim >= max_rank)
    fail({.rule = violation::dimension_is_out_of_range, .have = batchdim, .want = max_rank});
  return {size, last(), batchdim};
}

}  // namespace shardwise
