// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/dropout.hpp"

#include <ratio>

namespace shardwise::nn {

/// Sets about the part `Rate` of all elements, a `std::ratio`, to 0 and divides the others by
/// `1 - Rate`. Which ones
/// depends on the key of the call and the global index alone: every layout has the same bits. A
/// program that is not training does not call it.
///
///     auto h = nn::dropout<std::ratio<1, 10>>{}(x, seed.fold_in(step));
template <class Rate = std::ratio<1, 10>>
struct dropout {
  template <Operand X, class Key>
  [[nodiscard]] constexpr auto operator()(const X& x, const Key& seed) const {
    constexpr double rate = double{Rate::num} / double{Rate::den};
    return shardwise::dropout(x, seed, rate);
  }
};

}  // namespace shardwise::nn
