// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/data/index_permutation.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace shardwise {

/// What becomes of the samples that do not fill a batch at the end of an epoch.
enum class remaining_samples : unsigned char {
  dropped,  ///< they are left out
  kept,     ///< they form a smaller batch
  padded,   ///< they are followed by zeros, and a mask tells them apart
};

/// The names of `remaining_samples` as arguments of `batch`, of different types: padded batches
/// have one more tensor.
namespace last_batch {
template <remaining_samples What>
using choice = std::integral_constant<remaining_samples, What>;
inline constexpr choice<remaining_samples::dropped> dropped{};
inline constexpr choice<remaining_samples::kept> kept{};
inline constexpr choice<remaining_samples::padded> padded{};
}  // namespace last_batch

/// The samples of an epoch in their order, and how they form batches: the same on every mesh, for
/// any number of threads and processes.
///
///     const epoch_plan plan{.samples = 9, .batch = 4, .last = remaining_samples::kept};
///     plan.batches() == 3;
///     plan.rows(2) == 1;
struct epoch_plan {
  index_t samples = 0;
  index_t batch = 1;
  remaining_samples last = remaining_samples::dropped;
  /// The key of the order, if it is random.
  std::optional<random_key> key{};

  friend constexpr bool operator==(const epoch_plan&, const epoch_plan&) = default;

  /// Returns the number of batches of an epoch.
  [[nodiscard]] constexpr index_t batches() const noexcept {
    return last == remaining_samples::dropped ? samples / batch : ceil_div(samples, batch);
  }
  /// Returns the number of samples in a batch.
  [[nodiscard]] constexpr index_t rows(index_t number) const noexcept {
    return std::min(batch, samples - number * batch);
  }
  /// Returns the rows of the tensors of a batch: its samples, and those that are padded.
  [[nodiscard]] constexpr index_t padded_rows(index_t number) const noexcept {
    return last == remaining_samples::padded ? batch : rows(number);
  }
  /// Returns the order of the samples in an epoch; none if they come one after the other.
  [[nodiscard]] constexpr std::optional<index_permutation> order(
      std::uint64_t epoch) const noexcept {
    if (!key) return {};
    return index_permutation(key->fold_in(epoch), samples);
  }
};

/// A place in the epochs of a loader, from which another one goes on: the epoch, and the batches of
/// it that the program has received. It holds no rank and no mesh.
struct loader_state {
  std::uint64_t epoch = 0;
  index_t batches = 0;
  /// The samples, the size of batches and the order to which the place belongs.
  epoch_plan plan{};

  friend constexpr bool operator==(const loader_state&, const loader_state&) = default;
};

/// Checks that a loader can go on from a state: it has the same samples, batches and order.
[[nodiscard]] constexpr diagnosis check_resumed(const epoch_plan& own,
                                                const loader_state& from) noexcept {
  const auto differs = [](const char* member, index_t have, index_t want) {
    return diagnosis{.rule = violation::loader_state_differs,
                     .axis = short_name(text_view(member)),
                     .have = have,
                     .want = want};
  };
  const epoch_plan& other = from.plan;
  if (other.samples != own.samples) return differs("samples", other.samples, own.samples);
  if (other.batch != own.batch) return differs("batch", other.batch, own.batch);
  if (other.last != own.last)
    return differs("last", static_cast<index_t>(other.last), static_cast<index_t>(own.last));
  if (other.key != own.key) return differs("key", 0, 0);
  if (from.batches < 0 || from.batches > own.batches())
    return differs("batches", from.batches, own.batches());
  return {};
}

}  // namespace shardwise
