// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/rule/strided_elements.hpp"

namespace shardwise::detail {

/// Reports an array of another library that cannot be used.
[[noreturn]] inline void fail_array(text_view reason) {
  fail({.rule = violation::host_array_is_unusable}, reason);
}

/// Fails unless all extents are known, at least 0, and small enough for a tensor.
inline void require_known_extents(const extents_desc& extents) {
  for (int d = 0; d < extents.ssize(); ++d)
    if (extents[d] < 0) fail({.rule = violation::extent_is_negative, .dim = d, .have = extents[d]});
  require(validate(extents));
}

/// Returns the strides of contiguous row-major elements. Fails as `require_known_extents` does.
[[nodiscard]] inline extents_desc compact_strides(const extents_desc& extents) {
  require_known_extents(extents);
  return row_major(extents);
}

/// Returns the number of elements of memory from the first element to the last of an array: 0 if it
/// has none. Extents are valid.
[[nodiscard]] inline index_t required_span(const extents_desc& extents,
                                           const extents_desc& strides) {
  if (strides.size() != extents.size()) fail_array("it has a stride for each dimension");
  for (int d = 0; d < extents.ssize(); ++d)
    if (extents[d] == 0) return 0;
  index_t last = 0;
  for (int d = 0; d < extents.ssize(); ++d) {
    const index_t steps = extents[d] - 1, stride = strides[d];
    if (steps == 0) continue;  // a stride that is never taken may be anything
    if (stride < 0) fail_array("a stride is negative");
    if (stride > 0 && steps > (max_elements - last) / stride)
      fail_array("its elements span more than 2^56");
    last += steps * stride;
  }
  return last + 1;
}

/// Returns true if the elements are row-major and contiguous. Strides that are never taken do not
/// count.
[[nodiscard]] constexpr bool is_row_major(const extents_desc& extents,
                                          const extents_desc& strides) noexcept {
  index_t step = 1;
  for (int d = extents.ssize() - 1; d >= 0; --d) {
    if (extents[d] == 0) return true;
    if (extents[d] > 1 && strides[d] != step) return false;
    step *= extents[d];
  }
  return true;
}

/// Returns true if no two elements share a place: each stride steps over all that smaller strides
/// reach.
[[nodiscard]] constexpr bool has_place_for_each(const extents_desc& extents,
                                                const extents_desc& strides) noexcept {
  inplace_vector<index_t, max_rank> order;
  for (int d = 0; d < extents.ssize(); ++d) {
    if (extents[d] == 0) return true;
    if (extents[d] == 1) continue;
    order.push_back(d);
    for (int i = order.ssize() - 1; i > 0; --i) {
      const int a = static_cast<int>(order[i - 1]), b = static_cast<int>(order[i]);
      if (strides[a] <= strides[b]) break;
      order[i - 1] = b;
      order[i] = a;
    }
  }
  index_t reach = 0;
  for (const index_t each : order) {
    const int d = static_cast<int>(each);
    if (strides[d] <= reach) return false;
    reach += (extents[d] - 1) * strides[d];
  }
  return true;
}

}  // namespace shardwise::detail
