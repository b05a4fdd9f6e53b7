// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/kernel/kernel_table.hpp"

namespace shardwise {

SHARDWISE_INLINE void kernel_table::enter(const operation& what, std::uint64_t types,
                                          const operation_kernel& kernel) {
  const std::lock_guard lock(mutex_);
  const std::size_t at = place_of(what.id, types);
  if (at < entries_.size() && is_at(at, what.id, types))
    entries_[at].kernel = kernel;
  else
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), {&what, types, kernel});
  for (std::size_t i = place_of(what.id, 0); i < entries_.size(); ++i) {
    if (entries_[i].what->id != what.id) break;
    if (entries_[i].what != &what) doubled_.push_back({what.id});
  }
}

SHARDWISE_INLINE operation_kernel kernel_table::find(const operation& what,
                                                     std::uint64_t types) const {
  const std::lock_guard lock(mutex_);
  for (const doubled& one : doubled_)
    if (one.id == what.id) fail({.rule = violation::operation_is_entered_twice}, what.name);
  const std::size_t at = place_of(what.id, types);
  if (at < entries_.size() && is_at(at, what.id, types)) return entries_[at].kernel;
  if constexpr (build_config::compiled)
    if (const operation_kernel* const kernel = detail::compiled_kernel(what.id, types))
      return *kernel;
  detail::fail_without_kernel(what, types);
}

SHARDWISE_INLINE void detail::fail_without_kernel(const operation& what, std::uint64_t types) {
  bounded_text<300> words;
  words << what.name << " of";
  // Four bits for the result, and four for each operand behind it.
  int shift = 60;
  while (shift > 0 && (types >> shift & 15U) == 0) shift -= 4;
  for (shift -= 4; shift >= 0; shift -= 4)
    words << " " << to_text(static_cast<element>((types >> shift & 15U) - 1));
  words << (build_config::compiled ? ": compile the library with SHARDWISE_ELEMENTS=all"
                                   : ": name its elements in prepare<...>")
        << ", or register a kernel of your own with "
        << (what.is_elementwise ? "enter_function" : "enter_operation");
  fail({.rule = violation::operation_has_no_kernel}, words);
}

SHARDWISE_INLINE std::size_t kernel_table::place_of(std::uint64_t id,
                                                    std::uint64_t types) const noexcept {
  std::size_t begin = 0, end = entries_.size();
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    const entry& at = entries_[middle];
    if (at.what->id < id || (at.what->id == id && at.types < types))
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

}  // namespace shardwise
