// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/function_view.hpp"
#include "shardwise/io/file_array.hpp"
#include "shardwise/io/packed_file.hpp"
#include "shardwise/io/unpack.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/rule/strided_elements.hpp"
#include "shardwise/tensor/out_of_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace shardwise {

/// The contents of an IDX file: an array of bytes of any rank, row-major.
struct idx_array {
  extents_desc extents;
  std::vector<std::uint8_t> bytes;
};

namespace detail {

/// What the header of an IDX file says. Elements of another type than those of the library, 16-bit
/// integers, are named by `other_type`.
struct idx_header {
  element type = element::u8;
  std::string other_type{};
  index_t width = 1;  ///< the bytes of an element
  extents_desc extents{};
  index_t count = 1;

  /// Returns the number of bytes of the header.
  [[nodiscard]] index_t size() const noexcept { return 4 + 4 * extents.ssize(); }
};

/// Sets the elements of a header to those that its third byte stands for; returns false if there
/// are none.
[[nodiscard]] inline bool set_idx_elements(unsigned code, idx_header& to) {
  switch (code) {
    case 0x08:
      to.type = element::u8;
      break;
    case 0x09:
      to.type = element::i8;
      break;
    case 0x0b:
      to.other_type = "i16";
      to.width = 2;
      return true;
    case 0x0c:
      to.type = element::i32;
      break;
    case 0x0d:
      to.type = element::f32;
      break;
    case 0x0e:
      to.type = element::f64;
      break;
    default:
      return false;
  }
  to.width = size_of(to.type);
  return true;
}

/// Reads the header of an IDX file by `read(to, count)`, which returns how many bytes it has read;
/// `refuse` reports what is wrong.
[[nodiscard]] inline idx_header read_idx_header(
    function_view<std::size_t(std::uint8_t*, std::size_t)> read,
    function_view<void(const std::string&)> refuse) {
  std::uint8_t head[4]{};
  const std::size_t got = read(head, 4);
  const auto begins_with = [&] {
    return "it begins with " + internal::first_bytes(std::as_bytes(std::span(head).first(got)));
  };
  constexpr const char* form = ": two zeros, the type of elements, the number of dimensions";
  if (got != 4) refuse(begins_with() + ", and is shorter than the header of an IDX file" + form);
  if (head[0] != 0 || head[1] != 0)
    refuse(begins_with() + ", not as an IDX file does" + form +
           "; if it were packed by gzip, with 1f 8b");
  idx_header made;
  if (!set_idx_elements(head[2], made))
    refuse("its elements are of type " + std::to_string(head[2]) +
           ", and those of IDX are 8 (bytes), 9, 11, 12, 13 and 14");
  if (head[3] < 1 || head[3] > max_rank)
    refuse("it has " + std::to_string(head[3]) + " dimensions, not 1 to " +
           std::to_string(max_rank));
  // Sizes whose product exceeds any memory are rejected before they are multiplied.
  constexpr index_t most = index_t{1} << 40;
  index_t product = 1;  // of the sizes above 0
  for (int d = 0; d < int{head[3]}; ++d) {
    std::uint8_t size[4]{};
    if (read(size, 4) != 4) refuse("its header ends before its sizes do");
    index_t extent = 0;
    for (const std::uint8_t byte : size) extent = extent << 8 | byte;
    if (extent > 0 && product > most / extent) refuse("its sizes are those of no file");
    product *= std::max(extent, index_t{1});
    made.count *= extent;
    made.extents.push_back(extent);
  }
  return made;
}

}  // namespace detail

/// Reads an IDX file of bytes, the format of MNIST's images and labels, uncompressed or compressed
/// by gzip. Throws `file_is_not_readable`, or `file_is_malformed` if the file does not contain
/// exactly what its header states. It needs no more memory than the array, and a header that states
/// more than the bytes of the file can hold, packed or not, is refused before any is requested.
///
///     const idx_array images = read_idx("train-images-idx3-ubyte.gz");   // {60000, 28, 28}
[[nodiscard]] inline idx_array read_idx(const std::string& path) {
  const packed_file file(path);
  const auto refuse = [&](const std::string& reason) {
    file.refuse(violation::file_is_malformed, reason);
  };
  const detail::idx_header header = detail::read_idx_header(
      [&](std::uint8_t* to, std::size_t wanted) { return file.read(to, wanted); }, refuse);
  if (header.type != element::u8 || !header.other_type.empty())
    refuse("its elements are no bytes; open_idx reads others");
  const index_t count = header.count;
  idx_array made{header.extents, {}};
  // The header may be wrong, so pages are written only for data that is actually there. The whole
  // memory is requested at once, since growing would copy it, and need up to three times as much.
  if (file.require_room(header.size(), count))
    internal::with_memory_for(count, 1,
                              [&] { made.bytes.reserve(static_cast<std::size_t>(count)); });
  constexpr index_t step = index_t{1} << 20;
  while (static_cast<index_t>(made.bytes.size()) < count) {
    const std::size_t have = made.bytes.size();
    const auto wanted =
        static_cast<std::size_t>(std::min(step, count - static_cast<index_t>(have)));
    made.bytes.resize(have + wanted);
    if (file.read(made.bytes.data() + have, wanted) != wanted)
      refuse("it ends before the " + std::to_string(count) + " bytes that its header says");
  }
  std::uint8_t more = 0;
  if (file.read(&more, 1) != 0)
    refuse("it has more than the " + std::to_string(count) + " bytes that its header says");
  return made;
}

/// Opens an IDX file as an array of which nothing is read before it is asked for: `bytes` are those
/// of the whole file, mapped or unpacked (see `open_unpacked`). Throws `file_is_malformed` if they
/// are not exactly what the header states.
[[nodiscard]] inline file_array open_idx(const file_bytes& bytes) {
  const auto refuse = [&](const std::string& reason) { bytes.refuse(reason); };
  const std::span<const std::byte> all = bytes.bytes();
  std::size_t place = 0;
  const detail::idx_header header = detail::read_idx_header(
      [&](std::uint8_t* to, std::size_t wanted) {
        const std::size_t got = std::min(wanted, all.size() - place);
        if (got > 0) std::memcpy(to, all.data() + place, got);
        place += got;
        return got;
      },
      refuse);
  const index_t have = bytes.size() - header.size(), want = header.count * header.width;
  if (have != want)
    refuse("its header says " + std::to_string(want) + " bytes, and it has " +
           std::to_string(have) + " after it");
  file_array made;
  made.type = header.type;
  made.extents = header.extents;
  made.strides = row_major(made.extents);
  made.is_swapped = header.width > 1 && std::endian::native == std::endian::little;
  made.other_type = header.other_type;
  made.bytes = bytes.part(header.size(), want);
  return made;
}
/// The same for a file, plain or packed by gzip.
///
///     const file_array images = open_idx("train-images-idx3-ubyte.gz");   // {60000, 28, 28}
[[nodiscard]] inline file_array open_idx(const std::string& path,
                                         const unpack_options& options = {}) {
  return open_idx(open_unpacked(path, options));
}

}  // namespace shardwise
