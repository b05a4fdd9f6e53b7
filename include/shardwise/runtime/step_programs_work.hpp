// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/growable.hpp"
#include "shardwise/engine/pending_node.hpp"
#include "shardwise/process/owner_link.hpp"
#include "shardwise/runtime/step_programs.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace shardwise::detail {

SHARDWISE_INLINE step_programs::step_programs() = default;
SHARDWISE_INLINE step_programs::step_programs(step_programs&&) noexcept = default;
SHARDWISE_INLINE step_programs::~step_programs() = default;

SHARDWISE_INLINE step_programs::call::call(step_programs& of) : of_(of) {
  if (std::atomic_ref(of.is_called_).exchange(true))
    fail({.rule = violation::value_is_being_differentiated},
         "a step is called by its own function, or by another thread: each thread has a step of "
         "its own");
  of.begin();
}

SHARDWISE_INLINE void step_constants::add(const void* from, std::size_t size) {
  const std::size_t had = bytes.size();
  bytes.resize(had + size);
  std::memcpy(bytes.data() + had, from, size);
}

SHARDWISE_INLINE void step_parts::operator()(const tensor_handle& each) {
  add_tensor(each.share().get(), &each);
}

SHARDWISE_INLINE void step_parts::add_tensor(tensor_node* at, const tensor_handle* variable) {
  if (at != nullptr) at->arrive();  // it is null for a number
  tensors.push_back(at);
  variables.push_back(variable);
}

SHARDWISE_INLINE void note_changes(const step_parts& now, const step_parts& had,
                                   internal::growable<recorded_result>& to) {
  if (now.tensors.size() != had.tensors.size())
    fail({.rule = violation::operand_count_differs,
          .have = static_cast<index_t>(now.tensors.size()),
          .want = static_cast<index_t>(had.tensors.size())},
         "a step leaves as many tensors in its arguments as there were");
  for (std::size_t k = 0; k < had.tensors.size(); ++k)
    if (now.tensors[k] != had.tensors[k])
      to.push_back({now.tensors[k]->shared_from_this(), static_cast<int>(k)});
  if (now.constants.bytes != had.constants.bytes)
    fail({.rule = violation::operand_count_differs},
         "a step changes tensors; sizes of lists and other members stay as they are");
}

SHARDWISE_INLINE void step_programs::begin() noexcept {
  now_.tensors.clear();
  now_.variables.clear();
  now_.constants.bytes.clear();
  numbers_.clear();
  repeated_.clear();
  changed_.clear();
  held_.clear();
}

SHARDWISE_INLINE void step_programs::add_number(const void* value, std::size_t size) {
  std::memcpy(numbers_.emplace_back().data(), value, size);
  now_.add_tensor(nullptr, nullptr);
}

SHARDWISE_INLINE bool step_programs::is_repeated(const tensor_node* tensor) const noexcept {
  return std::binary_search(repeated_.begin(), repeated_.end(), tensor);
}

SHARDWISE_INLINE void step_programs::settle() {
  for (tensor_node* each : now_.tensors) {
    if (each == nullptr) continue;
    if (each->task() != nullptr && each->task()->is_argument())
      fail({.rule = violation::value_is_being_differentiated},
           "a step is called by a function that is recorded, which calls the function of the step "
           "instead");
    each->evaluate();
  }
  repeated_.assign(now_.tensors.begin(), now_.tensors.end());
  std::sort(repeated_.begin(), repeated_.end());
  std::size_t count = 0;
  for (std::size_t i = 1; i < repeated_.size(); ++i)
    if (repeated_[i] != nullptr && repeated_[i] == repeated_[i - 1])
      repeated_[count++] = repeated_[i];
  repeated_.resize(count);
}

SHARDWISE_INLINE step_programs::entry* step_programs::find(const void* types) noexcept {
  for (entry& each : entries_)
    if (each.types == types && each.constants == now_.constants.bytes &&
        each.program.takes(now_.tensors))
      return &each;
  return nullptr;
}

SHARDWISE_INLINE step_programs::entry& step_programs::keep(entry made) {
  if (entries_.size() == most) entries_.erase(entries_.begin());
  made.constants = now_.constants.bytes;
  entries_.push_back(std::move(made));
  return entries_.back();
}

SHARDWISE_INLINE void step_programs::run(entry& at) {
  enter(at);
  internal::run_guarded([&] { at.program.run(now_.tensors); },
                        [&](const std::exception_ptr& thrown) {
                          if (at.program.has_lost_arguments()) lose(at, thrown);
                        });
  if (at.program.replaces_arguments()) replace(at);
  held_.clear();
}

SHARDWISE_INLINE void step_programs::enter(entry& at) {
  std::size_t number = 0;
  for (std::size_t k = 0; k < now_.tensors.size(); ++k) {
    if (now_.tensors[k] == nullptr) {
      node_ptr& mine = at.numbers[number];
      // A result of an earlier call, or an argument, may be that number.
      if (!mine->owns_memory()) mine = copy_of(*mine);
      for (index_t i = 0; i < mine->where().count_here(); ++i)
        mine->elements().store(numbers_[number].data(), 1,
                               mine->writable_data<std::byte>(mine->where().shard_here(i)));
      // Owners that are given different numbers find out.
      mine->set_origin(std::bit_cast<std::uint64_t>(numbers_[number]));
      now_.tensors[k] = mine.get();
      ++number;
    } else if (at.program.changes(k) && now_.variables[k] != nullptr) {
      tensor_handle& each = variable(k);
      const bool is_several = is_repeated(now_.tensors[k]);
      if (is_several) hold(each);
      if (is_several || each.share().use_count() > 1 || !each.share()->owns_memory()) {
        internal::set_node(each, copy_of(*each.share()));
        now_.tensors[k] = each.share().get();
      }
    }
  }
}

SHARDWISE_INLINE void step_programs::hold(const tensor_handle& variable) {
  if (std::find(changed_.begin(), changed_.end(), &variable) != changed_.end())
    fail({.rule = violation::operand_count_differs, .have = 2, .want = 1},
         "a variable that a step changes is one of its arguments, not two");
  changed_.push_back(&variable);
  held_.push_back(variable.share());
}

SHARDWISE_INLINE void step_programs::replace(entry& at) {
  for (std::size_t k = 0; k < now_.variables.size(); ++k)
    if (now_.variables[k] != nullptr)
      if (node_ptr made = at.program.take_replacement(k))
        internal::set_node(variable(k), std::move(made));
}

SHARDWISE_INLINE void step_programs::lose(const entry& at, const std::exception_ptr& thrown) {
  for (std::size_t k = 0; k < now_.variables.size(); ++k)
    if (now_.variables[k] != nullptr && at.program.changes(k)) {
      // If there is no memory for the reason either, the variable has no value.
      node_ptr lost;
      run_quietly([&] { lost = lost_node_of(*variable(k).share(), thrown); });
      internal::set_node(variable(k), std::move(lost));
    }
}

}  // namespace shardwise::detail
