// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/conversion_kernels.hpp"

#include <cstring>

namespace shardwise::internal {

/// Calls `f` with an element of this type.
template <class F>
void with_element(element type, const F& f) {
  for_each_index<std::size_t{element_types}>([&]<std::size_t I>() {
    constexpr auto each = static_cast<element>(I);
    if (each == type) f(type_of_element<each>{});
  });
}

/// Converts `count` contiguous elements at any addresses from one type to another, as `cast` does.
inline void convert_elements(element from_type, const void* from, element to_type, void* to,
                             index_t count) {
  with_element(from_type, [&]<class From>(From) {
    with_element(to_type, [&]<class To>(To) {
      const auto* source = static_cast<const std::byte*>(from);
      auto* target = static_cast<std::byte*>(to);
      for (index_t i = 0; i < count; ++i, source += sizeof(From), target += sizeof(To)) {
        From read{};
        std::memcpy(&read, source, sizeof read);
        using computed = compute_type<From>;
        const To made = kernel<functions::cast<To>>::template of<To>(static_cast<computed>(read));
        std::memcpy(target, &made, sizeof made);
      }
    });
  });
}

}  // namespace shardwise::internal
