// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/plan/program.hpp"

#include <span>

namespace shardwise::fused {

/// Appends a fused tree to a program, unfused, what is computed first before the rest, and returns
/// the number of its value.
template <std::size_t N, std::size_t I>
constexpr value_id append(program_builder&, std::span<const value_id, N> read,
                          argument<I>) noexcept {
  return read[I];
}
template <std::size_t N, class T>
constexpr value_id append(program_builder& code, std::span<const value_id, N>,
                          const constant<T>& leaf) {
  return code.constant(leaf.value, element_of<T>);
}
template <std::size_t N, class F, class... Children>
constexpr value_id append(program_builder& code, std::span<const value_id, N> read,
                          const call<F, Children...>& tree) {
  value_ids operands;
  operands.push_back(append(code, read, tree.first));
  if constexpr (sizeof...(Children) > 1) operands.push_back(append(code, read, tree.second));
  if constexpr (sizeof...(Children) > 2) operands.push_back(append(code, read, tree.third));
  return code.emit(operation_of<pointwise<F>>, {}, operands);
}

}  // namespace shardwise::fused
