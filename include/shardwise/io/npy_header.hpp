// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/io/file_array.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace shardwise {

/// What the header of an NPY file says.
struct npy_header {
  element type = element::f32;  ///< of no meaning beside `other_type`
  std::string other_type{};     ///< the name of elements that are none of `element`, or empty
  index_t width = 0;            ///< the bytes of an element; 0 if they are not known
  bool is_swapped = false;      ///< The bytes of an element are in reverse order.
  bool is_fortran = false;      ///< The first index changes fastest.
  std::vector<index_t> shape{};
  index_t first = 0;  ///< the place of the elements in the file
};

/// A header that was read, or the reason why a text is none.
struct parsed_npy_header {
  npy_header header{};
  std::string reason{};

  [[nodiscard]] bool ok() const noexcept { return reason.empty(); }
};

/// Returns the length of a header, from the first byte of the file to its elements, which its first
/// 12 bytes tell; 0 if they are no beginning of an NPY file of version 1 to 3.
[[nodiscard]] index_t npy_header_length(std::span<const std::byte> beginning) noexcept;

/// Reads the header of an NPY file of version 1, 2 or 3: a literal of Python, a dictionary with the
/// keys `descr`, `fortran_order` and `shape` in any order. Reasons say at which byte, or for which
/// key, something else was expected. Elements of 2 bytes without meaning, `V2`, are `bf16`, which
/// NumPy has no name for and other programs write so.
[[nodiscard]] parsed_npy_header parse_npy_header(std::span<const std::byte> beginning);

/// Returns a header of version 1 for row-major elements, as NumPy writes it; its length is a
/// multiple of 64.
[[nodiscard]] std::string write_npy_header(element type, const extents_desc& extents);

/// Opens an NPY file, all of whose bytes are given, as an array: nothing of its elements is read
/// before it is asked for. Throws `file_is_malformed` if there are more or fewer elements than the
/// header says.
///
///     const file_array x = open_npy("x.npy");
[[nodiscard]] file_array open_npy(const file_bytes& bytes);
[[nodiscard]] inline file_array open_npy(const std::string& path) {
  return open_npy(file_bytes(path));
}

}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED_FILES)
#include "shardwise/io/npy_header_work.hpp"
#endif
