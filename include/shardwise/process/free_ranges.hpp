// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace shardwise {

/// The free parts of an address space, as ranges of offsets; ranges that touch are one.
class free_ranges {
 public:
  /// Takes `bytes` at the lowest free multiple of `alignment`; nothing if no range is large enough.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment) {
    for (auto at = ranges_.begin(); at != ranges_.end(); ++at) {
      const auto [begin, size] = *at;
      const std::uint64_t head = (alignment - begin % alignment) % alignment;
      if (size < head || size - head < bytes) continue;
      // The range keeps what is before the block; what is behind it becomes a range of its own.
      if (const std::uint64_t tail = size - head - bytes; tail > 0)
        ranges_.emplace_hint(std::next(at), begin + head + bytes, tail);
      if (head > 0)
        at->second = head;
      else
        ranges_.erase(at);
      bytes_ -= bytes;
      return begin + head;
    }
    return std::nullopt;
  }

  /// Adds a range that is not free yet. Needs no memory if it touches another one.
  void give(std::uint64_t begin, std::uint64_t bytes) {
    const auto next = ranges_.lower_bound(begin);
    const auto before = next == ranges_.begin() ? ranges_.end() : std::prev(next);
    const bool touches_next = next != ranges_.end() && begin + bytes == next->first;
    const bool touches_before = before != ranges_.end() && before->first + before->second == begin;
    const std::uint64_t behind = touches_next ? next->second : 0;
    if (touches_before) {
      before->second += bytes + behind;
      if (touches_next) ranges_.erase(next);
    } else if (touches_next) {
      auto node = ranges_.extract(next);
      node.key() = begin;
      node.mapped() = bytes + behind;
      ranges_.insert(std::move(node));
    } else {
      ranges_.emplace_hint(next, begin, bytes);
    }
    bytes_ += bytes;
  }

  /// Removes `bytes` from `begin` on, and returns true, if all of them are free.
  [[nodiscard]] bool remove(std::uint64_t begin, std::uint64_t bytes) {
    auto at = ranges_.upper_bound(begin);
    if (at == ranges_.begin()) return false;
    --at;
    const auto [first, size] = *at;
    if (begin + bytes > first + size) return false;
    if (const std::uint64_t tail = first + size - begin - bytes; tail > 0)
      ranges_.emplace_hint(std::next(at), begin + bytes, tail);
    if (begin > first)
      at->second = begin - first;
    else
      ranges_.erase(at);
    bytes_ -= bytes;
    return true;
  }

  /// Returns the number of ranges, and their bytes.
  [[nodiscard]] std::size_t count() const noexcept { return ranges_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  /// The sizes of the ranges by where they begin.
  std::map<std::uint64_t, std::uint64_t> ranges_;
  std::uint64_t bytes_ = 0;
};

}  // namespace shardwise
