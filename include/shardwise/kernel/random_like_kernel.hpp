// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/index_block.hpp"
#include "shardwise/kernel/position_runs.hpp"
#include "shardwise/kernel/random_numbers.hpp"
#include "shardwise/operation/random_like.hpp"

#include <bit>
#include <cstdint>

namespace shardwise {

namespace detail {

/// Fills a block with the numbers of a key at the positions of its elements.
template <class Narrow, class T, class Draw>
void fill_by_position(const kernel_call& call, const Draw& draw) {
  T* to = call.results[0].as<T>().data;
  const auto key = std::bit_cast<std::uint64_t>(indices_of(call.operands[1])[0]);
  for_each_position_run(call.made, whole_extents(call, call.rule.result),
                        [&](index_t position, const auto&, index_t n) {
                          draw_as<Narrow>(draw, key, static_cast<std::uint64_t>(position), to, n);
                          to += n;
                        });
}

}  // namespace detail

template <>
struct kernel_of<uniform_like_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    detail::fill_by_position<internal::narrow_uniform, T>(call,
                                                          &internal::uniform_run<compute_type<T>>);
  }
};
template <>
struct kernel_of<normal_like_operation> {
  template <class T>
  static void run(const kernel_call& call) {
    detail::fill_by_position<internal::narrow_normal, T>(call,
                                                         &internal::normal_run<compute_type<T>>);
  }
};

}  // namespace shardwise
