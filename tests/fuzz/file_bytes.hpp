// SPDX-License-Identifier: BSL-1.0
// Files of the fuzz targets: bytes on the heap of exactly their size, so that a sanitizer sees
// every access beyond them.
#pragma once

#include "fuzz.hpp"
#include <shardwise/io/file_array.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace fuzz {

inline file_bytes file_of(const std::uint8_t* data, std::size_t size) {
  const auto copy = std::make_shared<std::vector<std::byte>>(size);
  for (std::size_t i = 0; i < size; ++i) (*copy)[i] = static_cast<std::byte>(data[i]);
  copy->shrink_to_fit();
  return {"input", std::shared_ptr<const std::byte>(copy, copy->data()),
          static_cast<index_t>(size)};
}

/// Calls a function that may refuse its input, as a malformed file or by another of these rules.
template <class F>
void try_out(const F& f, violation other = violation::file_is_malformed) {
  try {
    f();
  } catch (const error& refused) {
    require(refused.code() == violation::file_is_malformed || refused.code() == other);
  }
}

/// Reads all elements of an array, and those of each row.
inline void read_all(const file_array& array) {
  if (!array.is_loadable()) return;
  require(array.bytes.size() == array.size() * size_of(array.type));
  require(array.rows() * array.row_size() == array.size());
  std::vector<std::byte> whole(static_cast<std::size_t>(array.bytes.size()));
  global_index first;
  first.resize(array.extents.size());
  array.read(first, array.extents, whole.data());
  if (array.extents.empty() || array.size() == 0) return;
  extents_desc row = array.extents;
  row[0] = 1;
  const auto width = static_cast<std::size_t>(array.row_size() * size_of(array.type));
  std::vector<std::byte> one(width);
  for (index_t i = 0; i < array.rows(); ++i) {
    first[0] = i;
    array.read(first, row, one.data());
    require(
        std::equal(one.begin(), one.end(), whole.begin() + static_cast<std::ptrdiff_t>(width) * i));
  }
}

}  // namespace fuzz
