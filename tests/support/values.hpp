// SPDX-License-Identifier: BSL-1.0
// What tensors hold, as lists of numbers, and their comparison.
#pragma once

#include "support/catch.hpp"
#include <shardwise/shardwise.hpp>

#include <cstddef>
#include <vector>

/// Returns the elements of a tensor in row-major order.
template <class X>
auto values(const X& x) {
  const auto host = shardwise::to_host(x);
  return std::vector(host.elements().begin(), host.elements().end());
}

/// Returns the elements of all tensors of a nest, one tensor after another.
template <class T, class Nest>
std::vector<T> values_of_nest(const Nest& nest) {
  std::vector<T> all;
  const auto read = [&](const auto& x) {
    const auto host = shardwise::to_host(x);
    all.insert(all.end(), host.elements().begin(), host.elements().end());
  };
  shardwise::internal::for_each_tensor(nest, read);
  return all;
}

/// Requires two lists to have the same length, and numbers that differ by at most `margin`, or by
/// Catch's relative error.
template <class T>
void require_close(const std::vector<T>& made, const std::vector<T>& wanted,
                   double margin = 1e-12) {
  REQUIRE(made.size() == wanted.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    CAPTURE(i);
    REQUIRE(made[i] == Approx(wanted[i]).margin(margin));
  }
}
