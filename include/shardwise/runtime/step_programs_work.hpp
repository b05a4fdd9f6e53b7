// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/runtime/step_programs.hpp"

#include <algorithm>

namespace shardwise::detail {

SHARDWISE_INLINE step_programs::step_programs() = default;
SHARDWISE_INLINE step_programs::step_programs(step_programs&&) noexcept = default;
SHARDWISE_INLINE step_programs::~step_programs() = default;

SHARDWISE_INLINE step_programs::call::call(step_programs& of) : of_(of) {
  if (of.is_called_)
    fail({.rule = violation::value_is_being_differentiated},
         "a step is called by its own function");
  of.is_called_ = true;
  of.begin();
}

SHARDWISE_INLINE void step_programs::begin() noexcept {
  tensors_.clear();
  constants_.bytes.clear();
  repeated_.clear();
  changed_.clear();
  held_.clear();
}

SHARDWISE_INLINE void step_programs::find_repeated() {
  repeated_.assign(tensors_.begin(), tensors_.end());
  std::sort(repeated_.begin(), repeated_.end());
  std::size_t count = 0;
  for (std::size_t i = 1; i < repeated_.size(); ++i)
    if (repeated_[i] != nullptr && repeated_[i] == repeated_[i - 1])
      repeated_[count++] = repeated_[i];
  repeated_.resize(count);
}

SHARDWISE_INLINE void step_programs::hold(const void* variable, node_ptr tensor) {
  if (std::find(changed_.begin(), changed_.end(), variable) != changed_.end())
    fail({.rule = violation::operand_count_differs, .have = 2, .want = 1},
         "a variable that a step changes is one of its arguments, not two");
  changed_.push_back(variable);
  held_.push_back(std::move(tensor));
}

SHARDWISE_INLINE step_programs::entry* step_programs::find(const void* types) noexcept {
  for (entry& each : entries_)
    if (each.types == types && each.constants == constants_.bytes && each.program.takes(tensors_))
      return &each;
  return nullptr;
}

SHARDWISE_INLINE step_programs::entry& step_programs::keep(entry made) {
  if (entries_.size() == most) entries_.erase(entries_.begin());
  made.constants = constants_.bytes;
  entries_.push_back(std::move(made));
  return entries_.back();
}

}  // namespace shardwise::detail
