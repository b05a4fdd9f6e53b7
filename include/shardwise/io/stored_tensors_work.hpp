// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/stored_tensors.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace shardwise {

SHARDWISE_INLINE_FILES bool stored_tensors::add(stored_tensor one) {
  if (find(one.name) != nullptr) return false;
  const std::size_t count = list_.size();
  // After this nothing can fail, so that each tensor has its place.
  if (count == runs_.capacity()) runs_.reserve(2 * count + 8);
  if (count == list_.capacity()) list_.reserve(2 * count + 8);
  list_.push_back(std::move(one));
  runs_.push_back(count);
  // As a bit is carried, two runs of one length become one.
  for (std::size_t length = 1; (count & length) != 0; length *= 2) {
    const auto middle = std::prev(runs_.end(), static_cast<std::ptrdiff_t>(length));
    std::inplace_merge(std::prev(middle, static_cast<std::ptrdiff_t>(length)), middle, runs_.end(),
                       name_order());
  }
  return true;
}

SHARDWISE_INLINE_FILES const stored_tensor* stored_tensors::find(
    std::string_view name) const noexcept {
  const auto is_before = [&](std::size_t t, std::string_view wanted) {
    return list_[t].name < wanted;
  };
  auto run = runs_.begin();
  for (std::size_t length = std::bit_floor(runs_.size()); length > 0; length /= 2) {
    if ((runs_.size() & length) == 0) continue;
    const auto end = std::next(run, static_cast<std::ptrdiff_t>(length));
    const auto found = std::lower_bound(run, end, name, is_before);
    if (found != end && list_[*found].name == name) return &list_[*found];
    run = end;
  }
  return nullptr;
}

SHARDWISE_INLINE_FILES std::vector<std::size_t> stored_tensors::by_name() const {
  std::vector<std::size_t> all = runs_;
  std::sort(all.begin(), all.end(), name_order());
  return all;
}

}  // namespace shardwise
