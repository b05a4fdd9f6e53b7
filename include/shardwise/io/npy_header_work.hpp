// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/npy_header.hpp"
#include "shardwise/io/npy_parser_work.hpp"
#include "shardwise/io/stored_count_work.hpp"
#include "shardwise/rule/strided_elements.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace shardwise {

namespace detail {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// The lengths of what is before the text of a header, for version 1 and for the others.
[[nodiscard]] constexpr std::size_t npy_prefix(unsigned version) noexcept {
  return npy_magic.size() + 2 + (version == 1 ? 2 : 4);
}

}  // namespace detail

SHARDWISE_INLINE_FILES index_t npy_header_length(std::span<const std::byte> beginning) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.substr(0, 6) != detail::npy_magic || text.size() < 8) return 0;
  const unsigned version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) return 0;
  const std::size_t prefix = detail::npy_prefix(version);
  if (text.size() < prefix) return 0;
  index_t length = 0;
  for (std::size_t i = prefix; i-- > 8;) length = length << 8 | byte(i);
  return static_cast<index_t>(prefix) + length;
}

SHARDWISE_INLINE_FILES parsed_npy_header parse_npy_header(std::span<const std::byte> beginning) {
  const auto refuse = [](std::string reason) { return parsed_npy_header{{}, std::move(reason)}; };
  const index_t length = npy_header_length(beginning);
  if (length == 0)
    return refuse(
        "it begins with " + internal::first_bytes(beginning) +
        ", not as an NPY file of version 1 to 3 does: 93 4e 55 4d 50 59, the version, 00, "
        "the length of the header");
  if (length > static_cast<index_t>(beginning.size()))
    return refuse("its header would end at byte " + std::to_string(length) + ", and it has " +
                  std::to_string(beginning.size()));
  const std::size_t prefix = detail::npy_prefix(static_cast<unsigned>(beginning[6]));
  const std::string_view text(reinterpret_cast<const char*>(beginning.data()),
                              static_cast<std::size_t>(length));
  parsed_npy_header out;
  out.reason =
      detail::npy_parser(text.substr(prefix), static_cast<index_t>(prefix)).read(out.header);
  if (out.ok() && !detail::stored_count(out.header.shape))
    out.reason = "an array has at most 2^56 elements";
  if (!out.ok()) out.header = {};
  out.header.first = out.ok() ? length : 0;
  return out;
}

SHARDWISE_INLINE_FILES std::string write_npy_header(element type, const extents_desc& extents) {
  constexpr char native = std::endian::native == std::endian::little ? '<' : '>';
  std::string text = "{'descr': '";
  text += size_of(type) == 1 ? '|' : native;
  text += detail::npy_names[static_cast<unsigned>(type)];
  text += "', 'fortran_order': False, 'shape': (";
  for (const index_t extent : extents) {
    if (text.back() != '(') text += ' ';
    text += std::to_string(extent) + ',';
  }
  if (extents.size() > 1) text.pop_back();
  text += "), }";
  // NumPy leaves room for a first extent of 21 digits, so that rows can be appended.
  if (!extents.empty()) text.append(21 - std::to_string(extents[0]).size(), ' ');
  constexpr std::size_t step = 64, prefix = detail::npy_prefix(1);
  text.append(step - (prefix + text.size() + 1) % step, ' ');
  text += '\n';
  std::string out(detail::npy_magic);
  out.append(
      {'\1', '\0', static_cast<char>(text.size() & 0xffU), static_cast<char>(text.size() >> 8U)});
  return out + text;
}

SHARDWISE_INLINE_FILES file_array open_npy(const file_bytes& bytes) {
  parsed_npy_header read = parse_npy_header(bytes.bytes());
  if (!read.ok()) bytes.refuse(read.reason);
  npy_header& header = read.header;
  const index_t count = *detail::stored_count(header.shape), have = bytes.size() - header.first;
  // Objects of Python have no size of their own.
  const bool holds = header.width == 0 || count == 0
                         ? header.width == 0 || have == 0
                         : have % header.width == 0 && have / header.width == count;
  if (!holds)
    bytes.refuse("its header says " + std::to_string(count) + " elements of " +
                 std::to_string(header.width) + " bytes, and it has " + std::to_string(have) +
                 " bytes from byte " + std::to_string(header.first) + " on");
  file_array made;
  made.type = header.type;
  made.other_type = std::move(header.other_type);
  made.is_swapped = header.is_swapped;
  made.bytes = bytes.part(header.first, have);
  if (header.shape.size() > std::size_t{max_rank}) {
    made.other_shape = std::move(header.shape);
    return made;
  }
  for (const index_t extent : header.shape) made.extents.push_back(extent);
  made.strides = row_major(made.extents);
  if (!header.is_fortran) return made;
  extents_desc reversed = made.extents;
  std::reverse(reversed.begin(), reversed.end());
  made.strides = row_major(reversed);
  std::reverse(made.strides.begin(), made.strides.end());
  return made;
}

}  // namespace shardwise
