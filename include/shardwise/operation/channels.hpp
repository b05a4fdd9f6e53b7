// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/with_rank.hpp"
#include "shardwise/rule/operation.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// Checks that the channels of an operand are divided into groups of the same size.
[[nodiscard]] constexpr diagnosis check_groups(index_t channels, index_t groups, int operand,
                                               int dim) noexcept {
  if (groups < 1) return {.rule = violation::amount_is_out_of_range, .have = groups, .want = 1};
  if (channels == dyn || channels % groups == 0) return {};
  return {.rule = violation::groups_do_not_divide_channels,
          .operand = operand,
          .dim = dim,
          .have = channels,
          .want = groups};
}

}  // namespace shardwise::detail

namespace shardwise::internal {

/// Returns one number for each channel, `[channels]`, in the shape that is broadcast to `[batch,
/// channels, spatial...]`.
template <int Rank, class X>
[[nodiscard]] constexpr auto beside_positions(const X& of_channels) {
  if constexpr (AnyRefused<X>)
    return refused_value{};
  else if constexpr (Rank < 3)
    return X(of_channels);
  else
    return [&]<int... D>(std::integer_sequence<int, D...>) {
      return unsqueeze<(D + 1)...>(of_channels);
    }
  (std::make_integer_sequence<int, Rank - 2>{});
}

}  // namespace shardwise::internal
