// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/converted_elements_work.hpp"
#include "shardwise/io/file_array.hpp"
#include "shardwise/io/strided_bytes_work.hpp"
#include "shardwise/rule/strided_elements.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace shardwise {

namespace detail {

/// Extents as in errors: `4, 8`.
[[nodiscard]] inline std::string extents_words(const extents_desc& extents) {
  std::string out;
  for (const index_t extent : extents)
    out += (out.empty() ? "" : ", ") + (extent == dyn ? "?" : std::to_string(extent));
  return "[" + out + "]";
}
[[nodiscard]] inline std::string element_words(element type) {
  const text_view name = to_text(type);
  return {name.data(), name.size()};
}

/// Makes truth values of bytes: others than 0 and 1 are no valid `bool` elements.
inline void make_truth_values(element type, void* of, index_t count) noexcept {
  if (type != element::boolean) return;
  auto* const bytes = static_cast<std::byte*>(of);
  for (index_t i = 0; i < count; ++i) bytes[i] = std::byte{bytes[i] != std::byte{0}};
}

}  // namespace detail

SHARDWISE_INLINE_FILES index_t file_array::row_size() const noexcept {
  index_t count = 1;
  for (int d = 1; d < extents.ssize(); ++d) count *= extents[d];
  return count;
}

SHARDWISE_INLINE_FILES void file_array::require_elements(element wanted,
                                                         stored_elements how) const {
  const auto refuse = [&](const std::string& reason) {
    internal::fail_file(violation::stored_tensor_differs, bytes.name(), reason);
  };
  if (!other_type.empty())
    refuse("it has elements of " + other_type + ", which no tensor has, not " +
           detail::element_words(wanted));
  if (!other_shape.empty())
    refuse("it has " + std::to_string(other_shape.size()) +
           " dimensions, and a tensor has at most " + std::to_string(max_rank));
  if (how == stored_elements::same && type != wanted)
    refuse("it has elements of " + detail::element_words(type) + ", not " +
           detail::element_words(wanted) + "; stored_elements::converted converts them");
}

SHARDWISE_INLINE_FILES void file_array::require_extents(const extents_desc& wanted) const {
  bool same = extents.size() == wanted.size();
  for (int d = 0; same && d < wanted.ssize(); ++d)
    same = wanted[d] == dyn || wanted[d] == extents[d];
  if (!same)
    internal::fail_file(
        violation::stored_tensor_differs, bytes.name(),
        "it is " + detail::extents_words(extents) + ", not " + detail::extents_words(wanted));
}

SHARDWISE_INLINE_FILES void file_array::read(const global_index& first, const extents_desc& count,
                                             void* to) const {
  const index_t width = size_of(type), all = element_count(count);
  if (all == 0) return;
  index_t offset = 0;
  detail::copy_loops loops;
  const inplace_vector<index_t, max_rank> dense = row_major(count);
  for (int d = 0; d < extents.ssize(); ++d) {
    offset += first[d] * strides[d];
    loops.push_back({count[d], strides[d] * width, dense[d] * width});
  }
  detail::copy_strided(width, is_swapped, loops, bytes.bytes().data() + offset * width,
                       static_cast<std::byte*>(to));
  detail::make_truth_values(type, to, all);
}

SHARDWISE_INLINE_FILES void file_array::read_run(const global_index& first, index_t count,
                                                 void* to) const {
  extents_desc part;
  for (int d = 0; d < extents.ssize(); ++d)
    part.push_back(d + 1 == extents.ssize() ? count : index_t{1});
  read(first, part, to);
}

SHARDWISE_INLINE_FILES void file_array::read_rows(index_t first, void* to, index_t count,
                                                  element wanted, stored_elements how) const {
  require_elements(wanted, how);
  const index_t width = row_size(), number = width == 0 ? 0 : count / width;
  if (number * width != count)
    internal::fail_file(violation::stored_tensor_differs, bytes.name(),
                        "its rows have " + std::to_string(width) + " elements, and " +
                            std::to_string(count) + " are no whole rows");
  if (first < 0 || first > rows() || number > rows() - first)
    fail({.rule = violation::index_is_out_of_range, .have = first + number, .want = rows()},
         bytes.name());
  if (count == 0) return;
  global_index at;
  at.resize(extents.size());
  extents_desc part = extents;
  // What is converted goes through memory of its own, some rows at a time.
  constexpr index_t converted_at_once = 1 << 14;
  const index_t step =
      wanted == type ? number : std::max(index_t{1}, std::min(number, converted_at_once / width));
  std::vector<std::byte> stored(
      wanted == type ? 0 : static_cast<std::size_t>(step * width * size_of(type)));
  for (index_t done = 0; done < number; done += step) {
    const index_t now = std::min(step, number - done);
    if (!part.empty()) {
      at[0] = first + done;
      part[0] = now;
    }
    auto* const target = static_cast<std::byte*>(to) + done * width * size_of(wanted);
    if (wanted == type) {
      read(at, part, target);
    } else {
      read(at, part, stored.data());
      internal::convert_elements(type, stored.data(), now * width, wanted, target);
    }
  }
}

SHARDWISE_INLINE_FILES const void* file_array::in_place(element wanted,
                                                        std::size_t alignment) const {
  if (!is_loadable() || type != wanted || is_swapped || strides != row_major(extents))
    return nullptr;
  const std::byte* const first = bytes.bytes().data();
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(first) % alignment == 0;
  return is_aligned ? first : nullptr;
}

}  // namespace shardwise
