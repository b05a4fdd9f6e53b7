// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/converted_elements_work.hpp"
#include "shardwise/io/load_array.hpp"

#include <algorithm>
#include <cstddef>

namespace shardwise::detail {

SHARDWISE_INLINE_FILES void fill_part(const file_array& from, const held_box& part,
                                      const any_block& block) {
  if (block.size() == 0) return;
  auto* const to = static_cast<std::byte*>(block.data);
  const bool is_box = std::all_of(part.begin(), part.end(), [](const held_range& each) {
    return each.split.how.is_contiguous();
  });
  if (is_box && from.type == block.type) {
    global_index first;
    for (const held_range& each : part) first.push_back(each.range.begin);
    return from.read(first, block.extents, to);
  }
  constexpr index_t at_once = 4096;
  std::byte stored[at_once * 8];
  for_each_run(part, [&](const global_index& first, index_t place, index_t count) {
    if (from.type == block.type)
      return from.read_run(first, count, to + place * size_of(block.type));
    global_index at = first;
    for (index_t done = 0; done < count; done += at_once) {
      const index_t now = std::min(at_once, count - done);
      from.read_run(at, now, stored);
      internal::convert_elements(from.type, stored, now, block.type,
                                 to + (place + done) * size_of(block.type));
      if (!at.empty()) at[at.ssize() - 1] += now;
    }
  });
}

}  // namespace shardwise::detail
