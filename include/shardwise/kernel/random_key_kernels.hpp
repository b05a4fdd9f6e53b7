// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/operation/random_keys.hpp"

#include <cstdint>

namespace shardwise {

template <>
struct kernel<functions::fold_in> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T key, T n) noexcept {
    const random_key of{static_cast<std::uint64_t>(static_cast<std::int64_t>(key))};
    return static_cast<T>(
        of.fold_in(static_cast<std::uint64_t>(static_cast<std::int64_t>(n))).value);
  }
};
template <>
struct kernel<functions::split_key> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T key, T n) noexcept {
    const random_key of{static_cast<std::uint64_t>(static_cast<std::int64_t>(key))};
    return static_cast<T>(of.split(static_cast<std::uint64_t>(static_cast<std::int64_t>(n))).value);
  }
};

}  // namespace shardwise
