// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/number_operand.hpp"
#include "shardwise/kernel/conversion_kernels.hpp"
#include "shardwise/kernel/element_kernels.hpp"
#include "shardwise/layout/element.hpp"

#include <cstddef>
#include <utility>

namespace shardwise::internal {

/// Calls `f` with the type of each element type, if it is this one.
template <class F, std::size_t... Place>
void with_element_type(element type, const F& f, std::index_sequence<Place...>) {
  (..., (static_cast<element>(Place) == type
             ? f(std::type_identity<type_of_element<static_cast<element>(Place)>>{})
             : void()));
}

/// Converts contiguous elements to another type, as `cast` does.
template <class From, Element To>
void convert_elements(const element_kernels& read, const std::byte* from, index_t count, To* to) {
  constexpr index_t at_once = 256;
  From numbers[at_once];
  compute_type<To> converted[at_once];
  for (index_t first = 0; first < count; first += at_once) {
    const index_t n = count - first < at_once ? count - first : at_once;
    read.load(from + first * size_of(read.type), 1, n, numbers);
    for (index_t i = 0; i < n; ++i)
      converted[i] = kernel<functions::cast<To>>::template of<compute_type<To>>(numbers[i]);
    element_kernels_of<To>.store(converted, n, to + first);
  }
}
inline void convert_elements(element type, const std::byte* from, index_t count, element to_type,
                             std::byte* to) {
  constexpr auto all = std::make_index_sequence<std::size_t{element_types}>{};
  with_element_type(
      type,
      [&]<class From>(std::type_identity<From>) {
        with_element_type(
            to_type,
            [&]<class To>(std::type_identity<To>) {
              convert_elements<compute_type<From>>(element_kernels_of<From>, from, count,
                                                   static_cast<To*>(static_cast<void*>(to)));
            },
            all);
      },
      all);
}

}  // namespace shardwise::internal
